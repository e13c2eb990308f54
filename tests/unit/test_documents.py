"""TOML and YAML files: read strictly, written atomically."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.documents import MAX_DOCUMENT_BYTES
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_text
from pytest_codegenie.documents import read_toml
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.documents import write_atomically


def make_directory(path: Path) -> None:
    path.mkdir()


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 20)


def make_nothing(_path: Path) -> None:
    pass


def content(data: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(data)

    return make


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_nothing, "missing"),
        (make_directory, "is a directory, not a regular file"),
        (make_fifo, "is a special file, not a regular file"),
        (make_loop, "cannot be read: Too many levels of symbolic links"),
        (make_large, "larger than 8 MiB, the most that is read"),
        (content(b"\xef\xbb\xbfa = 1\n"), "starts with a byte order mark; save it as"),
        (content(b"a = 1\nb = '\xe9'\n"), "not UTF-8 (line 2, byte 0xe9)"),
        (content("a = 1\n".encode("utf-16")), "not UTF-8 (line 1, byte 0xff)"),
    ],
)
@pytest.mark.parametrize("read", [read_text, read_toml, read_yaml])
def test_what_is_no_text_file_is_refused_with_the_reason(
    tmp_path: Path,
    read: Callable[[Path], Any],
    make: Callable[[Path], None],
    reason: str,
) -> None:
    path = tmp_path / "document"
    make(path)
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert caught.value.path == path
    assert caught.value.reason.startswith(reason)


def test_the_largest_document_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(b"x" * MAX_DOCUMENT_BYTES)
    assert len(read_text(path)) == MAX_DOCUMENT_BYTES
    path.write_bytes(b"x" * (MAX_DOCUMENT_BYTES + 1))
    with pytest.raises(DocumentError, match="larger than 8 MiB"):
        read_text(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "no toml",
            "not TOML: Expected '=' after a key in a key/value pair (at line 1",
        ),
        ("a = 1\na = 2\n", "not TOML: Cannot overwrite a value (at line 2"),
        ("a = 2026-02-30", "not TOML: Invalid date or datetime (at line 1"),
        ("a = " + "[" * 100_000, "not TOML: nested too deeply"),
        ("a = " + "9" * 5000, "not TOML: Exceeds the limit"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "case.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_toml(path)
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb: 2\na: 3\n", "key 'a' stands twice (line 3)"),
        ("x:\n  a: 1\n  a: 2\n", "key 'a' stands twice (line 3)"),
        ("{1: a, 0x1: b}", "key 1 stands twice (line 1)"),
        (
            "<<<<<<< HEAD\na: 1\n",
            "mapping values are not allowed in this context (line 2)",
        ),
        ("a: [1", "did not find expected"),
        ("\ta: 1", "found character that cannot start any token (line 1)"),
        ("a: *gone", "found undefined alias (line 1)"),
        ("!!python/name:os.system x", "could not determine a constructor for the tag"),
        ("? [a]\n: 1", "found unhashable key (line 1)"),
        ("!!map [x]", "this is no mapping (line 1)"),
        ("a: 2026-13-45", "month must be in 1..12"),
        (
            "a: \x01",
            "unacceptable character #x0001: control characters are not allowed",
        ),
        ("a: 1\n---\nb: 2\n", "but found another document (line 2)"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("".join(" " * depth + "a:\n" for depth in range(1200)), "nested too deeply"),
    ],
)
def test_yaml_that_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "digests.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_yaml(path)
    assert caught.value.reason.startswith(f"not usable YAML: {reason}")
    assert "\n" not in caught.value.reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("a: 1\nb: {c: [d, 'e']}\n", {"a": 1, "b": {"c": ["d", "e"]}}),
        (
            "x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  a: 3\n",
            {"x": {"a": 1, "b": 2}, "y": {"a": 3, "b": 2}},
        ),
        ("[" * 90 + "]" * 90, None),
        ("a: '" + "[" * 5000 + "'", {"a": "[" * 5000}),
    ],
)
def test_ordinary_yaml_is_read_as_it_is_meant(
    tmp_path: Path, text: str, value: object
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    read = read_yaml(path)
    if text.startswith("["):
        depth = 1
        while read:
            read, depth = read[0], depth + 1
        assert depth == 90
    else:
        assert read == value


def test_writing_replaces_the_whole_file_and_leaves_nothing_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "digests.yaml"
    path.write_text("a longer text that was there before\n", encoding="utf-8")
    write_atomically(path, "é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    assert path.stat().st_mode & 0o777 == 0o644
    write_atomically(path, b"\x00", mode=0o600)
    assert path.read_bytes() == b"\x00"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_on_a_full_disk_the_old_file_stays_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "digests.yaml"
    path.write_text("before\n", encoding="utf-8")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from pytest_codegenie.documents import write_atomically\n"
        "try:\n"
        "    write_atomically(Path(sys.argv[1]), b'x' * 8192)\n"
        "except OSError as exc:\n"
        "    print(exc.strerror)\n"
    )
    run = subprocess.run(
        [sys.executable, "-B", "-c", script, os.fspath(path)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=limit_file_size,
    )
    assert run.stdout == "File too large\n"
    assert path.read_text(encoding="utf-8") == "before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine\n", encoding="utf-8")
    path = tmp_path / "digests.yaml"
    path.symlink_to(outside)
    write_atomically(path, "new\n")
    assert outside.read_text(encoding="utf-8") == "mine\n"
    assert not path.is_symlink()
