"""The digest, version 1: pinned, injective, and computed in constant memory."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from pytest_codegenie.hashing import DIGEST_VERSION
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import digest_fault
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.hashing import hash_contents
from pytest_codegenie.hashing import hash_fields
from pytest_codegenie.hashing import hash_file
from pytest_codegenie.hashing import hash_files
from pytest_codegenie.hashing import hash_tree
from pytest_codegenie.hashing import tree_entries


#: Relative path to (type tag, content), as the digest sees a case.
Tree = dict[str, tuple[bytes, bytes]]

GOLDEN: Tree = {
    "expected/tests.toml": (b"f", b'framework = "pytest"\n'),
    "input/a-b": (b"f", b"sorts before a/b\n"),
    "input/a/b": (b"f", b""),
    "input/case.toml": (b"f", b"only the case's own is left out\n"),
    "input/link": (b"l", b"a-b"),
    "input/run.sh": (b"x", b"#!/bin/sh\nexit 0\n"),
    "input/\N{GREEK SMALL LETTER LAMDA}.bin": (b"f", bytes(range(256)) * 8192),
}
GOLDEN_DIGEST = (
    "blake3:d99840db63ebc8fd68edbfe0e515763e707e3ac5ca4df466e9c928640072cfbb"
)


def write_tree(root: Path, tree: Tree) -> None:
    for name, (tag, content) in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if tag == b"l":
            path.symlink_to(content.decode())
        else:
            path.write_bytes(content)
            path.chmod(0o755 if tag == b"x" else 0o644)


def documented_stream(tree: Tree) -> bytes:
    """The byte layout as the module's documentation gives it, and nothing of ours."""
    stream = b""
    for path in sorted(tree, key=str.encode):
        tag, content = tree[path]
        name = path.encode()
        stream += tag + struct.pack(">Q", len(name)) + name
        stream += struct.pack(">Q", len(content)) + content
    return stream


def parse_stream(stream: bytes) -> Tree:
    """Take a stream apart again: what can be undone loses nothing."""
    tree: Tree = {}
    while stream:
        tag, (size,) = stream[:1], struct.unpack(">Q", stream[1:9])
        path, stream = stream[9 : 9 + size].decode(), stream[9 + size :]
        (size,) = struct.unpack(">Q", stream[:8])
        tree[path], stream = (tag, stream[8 : 8 + size]), stream[8 + size :]
    return tree


def digest_on_disk(tree: Tree) -> str:
    with tempfile.TemporaryDirectory() as root:
        write_tree(Path(root), tree)
        return hash_tree(Path(root)).digest


def test_the_golden_tree_has_the_pinned_digest(tmp_path: Path) -> None:
    write_tree(tmp_path, GOLDEN)
    (tmp_path / "case.toml").write_text("left out", encoding="utf-8")
    (tmp_path / "input/empty").mkdir()
    assert DIGEST_VERSION == 1
    assert hash_tree(tmp_path).digest == GOLDEN_DIGEST
    computed = blake3(documented_stream(GOLDEN)).hexdigest()
    assert GOLDEN_DIGEST == f"blake3:{computed}"


# Few letters, so that a path's end and a content's start are often the same bytes.
names = st.text("ab0-", min_size=1, max_size=3).filter(lambda name: name != "case.toml")
contents = st.tuples(st.sampled_from([b"f", b"x"]), st.binary(max_size=12))
# Targets that there are not: no loops.
links = st.tuples(st.just(b"l"), names.map("z{}".format).map(str.encode))
# One level in "d/" at most: no name is both a file and a directory.
paths = st.one_of(names, names.map("d/{}".format))
trees = st.dictionaries(paths, contents | links, max_size=4)


@settings(deadline=None)
@given(trees)
def test_a_stream_can_be_taken_apart_again_so_no_two_trees_share_one(
    tree: Tree,
) -> None:
    assert parse_stream(documented_stream(tree)) == tree


@settings(max_examples=60, deadline=None)
@given(trees, trees)
def test_trees_on_disk_have_the_documented_digest_and_differ_when_they_differ(
    one: Tree, other: Tree
) -> None:
    digests = [digest_on_disk(tree) for tree in (one, other)]
    assert digests == [hash_bytes(documented_stream(tree)) for tree in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": (b"f", b"bc")}, {"ab": (b"f", b"c")}),
        ({"a": (b"f", b"")}, {"a": (b"x", b"")}),
        ({"a": (b"f", b"b")}, {"a": (b"l", b"b")}),
        ({"a": (b"f", b"x"), "b": (b"f", b"")}, {"a": (b"f", b""), "b": (b"f", b"x")}),
        ({"d/a": (b"f", b"")}, {"d-a": (b"f", b"")}),
        ({"a": (b"f", b"\n")}, {"a": (b"f", b"\r\n")}),
    ],
)
def test_near_twins_have_different_digests(one: Tree, other: Tree) -> None:
    assert digest_on_disk(one) != digest_on_disk(other)


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_files_around_the_buffer_size_are_hashed_whole(
    tmp_path: Path, size: int
) -> None:
    tree: Tree = {
        "a": (b"f", b"before"),
        "b": (b"f", b"\1" * size),
        "c": (b"f", b"after"),
    }
    write_tree(tmp_path, tree)
    assert hash_tree(tmp_path).digest == hash_bytes(documented_stream(tree))


def test_a_large_sparse_file_is_hashed_in_constant_memory(tmp_path: Path) -> None:
    size = 256 << 20
    with (tmp_path / "large").open("wb") as file:
        file.truncate(size)
    script = (
        "import resource, sys, tracemalloc\n"
        "from pathlib import Path\n"
        "from pytest_codegenie.hashing import hash_tree\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "tracemalloc.start()\n"
        "digest = hash_tree(Path(sys.argv[1])).digest\n"
        "peak = tracemalloc.get_traced_memory()[1]\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(digest, peak, (after - before) * 1024)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, os.fspath(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    digest, traced, resident = run.stdout.split()
    hasher = blake3(b"f" + struct.pack(">Q", 5) + b"large" + struct.pack(">Q", size))
    for _ in range(256):
        hasher.update(bytes(1 << 20))
    assert digest == f"blake3:{hasher.hexdigest()}"
    assert int(traced) < 8 << 20
    assert int(resident) < 64 << 20


def test_entries_are_those_of_the_digest_and_change_with_a_file(tmp_path: Path) -> None:
    write_tree(tmp_path, GOLDEN)
    before = tree_entries(tmp_path)
    assert before == hash_tree(tmp_path).entries
    assert [entry.path for entry in before] == sorted(GOLDEN, key=str.encode)
    # Same size and same time: the change time still tells.
    path = tmp_path / "input/run.sh"
    status = path.stat()
    path.write_bytes(b"#!/bin/sh\nexit 1\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert tree_entries(tmp_path) != before


def test_each_file_has_a_digest_of_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, GOLDEN)
    before = hash_files(tmp_path)
    (tmp_path / "input/a-b").write_bytes(b"changed")
    (tmp_path / "input/run.sh").chmod(0o644)
    after = hash_files(tmp_path)
    assert set(before) == set(GOLDEN)
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {"input/a-b", "input/run.sh"}


def plant_fifo(case: Path) -> None:
    os.mkfifo(case / "input/pipe")


def plant_socket(case: Path) -> None:
    # The path of a socket is short; the one of a test's directory may be not.
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        (Path(short) / "case").symlink_to(case)
        with socket.socket(socket.AF_UNIX) as plug:
            plug.bind(f"{short}/case/input/plug")


def plant_loop(case: Path) -> None:
    (case / "input/loop").symlink_to("pool")
    (case / "input/pool").symlink_to("loop")


def plant_link_out(case: Path) -> None:
    (case / "input/out").symlink_to("../../secret")


def plant_link_out_through_another(case: Path) -> None:
    (case / "input/up").symlink_to("..")
    (case / "input/out").symlink_to("up/../secret")


def plant_absolute_link(case: Path) -> None:
    (case / "input/abs").symlink_to(case / "input/file")


def plant_link_to_sibling(case: Path) -> None:
    case.with_name("case-2").mkdir()
    (case / "input/out").symlink_to("../../case-2")


def plant_bad_name(case: Path) -> None:
    directory = case / "input" / os.fsdecode(b"\xff")
    directory.mkdir()
    (directory / "file").touch()


@pytest.mark.parametrize(
    ("plant", "path", "reason"),
    [
        (plant_fifo, "input/pipe", "a FIFO cannot be part of a case"),
        (plant_socket, "input/plug", "a socket cannot be part of a case"),
        (plant_loop, "input/loop", "cannot be followed (Too many levels"),
        (plant_link_out, "input/out", "leads out of the case, to '../../secret'"),
        (
            plant_link_out_through_another,
            "input/out",
            "leads out of the case, to 'up/../secret'",
        ),
        (plant_absolute_link, "input/abs", "the link is absolute, to '/"),
        (plant_link_to_sibling, "input/out", "leads out of the case"),
        (plant_bad_name, r"input/\xff/file", "the name is not UTF-8"),
    ],
)
def test_what_cannot_be_part_of_a_case_is_named(
    tmp_path: Path, plant: object, path: str, reason: str
) -> None:
    case = tmp_path / "case"
    write_tree(case, {"input/file": (b"f", b"")})
    (tmp_path / "secret").touch()
    assert callable(plant)
    plant(case)
    with pytest.raises(UnhashableEntryError) as caught:
        hash_tree(case)
    assert caught.value.path == path
    assert reason in caught.value.reason


def test_links_that_stay_inside_are_hashed_by_their_target(tmp_path: Path) -> None:
    tree: Tree = {
        "input/file": (b"f", b""),
        "input/here": (b"l", b"file"),
        "input/dir": (b"l", b"../expected"),
        "input/dangling": (b"l", b"nowhere/at/all"),
        "input/self": (b"l", b".."),
    }
    write_tree(tmp_path, tree)
    assert hash_tree(tmp_path).digest == hash_bytes(documented_stream(tree))


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (f"blake3:{'a' * 64}", ""),
        (f"sha256:{'a' * 64}", "must start with 'blake3:', got 'sha256:aaaaaaaaaaaaa'"),
        ("a" * 64, "must start with 'blake3:'"),
        (f"BLAKE3:{'a' * 64}", "must start with 'blake3:'"),
        (f"blake3:{'a' * 63}", "must have 64 hex digits, got 63"),
        (f"blake3:{'a' * 65}", "must have 64 hex digits, got 65"),
        (f"blake3:{'A' * 64}", "must be lower-case"),
        (f"blake3:{'g' * 64}", f"must be hexadecimal, got 'blake3:{'g' * 64}'"),
        (f"blake3:{'a' * 64}\n", "must have 64 hex digits, got 65"),
        (None, "must be a string, got None"),
        (["x"], "must be a string, got ['x']"),
    ],
)
def test_the_fault_of_a_digest_is_said(value: object, fault: str) -> None:
    assert fault in digest_fault(value)
    assert bool(digest_fault(value)) == bool(fault)


# -- named fields for one purpose ------------------------------------------------------

FIELDS = {"b": b"", "": b"nameless", "a": b"one", "ab": bytes(range(256))}
FIELDS_DIGEST = (
    "blake3:0c00237024927a86d84ae1292d28b3d3e6717767c11e412ebb73170e5ed3ae3a"
)


def documented_fields(fields: dict[str, bytes]) -> bytes:
    """The byte layout as the function's documentation gives it, and nothing of ours."""
    stream = struct.pack(">Q", len(fields))
    for name in sorted(fields, key=str.encode):
        raw, value = name.encode(), fields[name]
        stream += struct.pack(">Q", len(raw)) + raw
        stream += struct.pack(">Q", len(value)) + value
    return stream


def test_golden_vector_of_fields() -> None:
    assert hash_fields("pytest-codegenie test vector", FIELDS) == FIELDS_DIGEST


@given(st.dictionaries(st.text(max_size=4), st.binary(max_size=8), max_size=4))
def test_fields_are_hashed_as_documented(fields: dict[str, bytes]) -> None:
    stream = documented_fields(fields)
    expected = blake3(stream, derive_key_context="purpose").hexdigest()
    assert hash_fields("purpose", fields) == f"blake3:{expected}"


#: Short and of few letters, so that many concatenations are equal.
_names = st.text("ab\0\x01", max_size=3)
_fields = st.dictionaries(_names, _names.map(str.encode), max_size=3)


@given(st.tuples(_names, _fields), st.tuples(_names, _fields))
def test_no_two_inputs_give_one_digest(
    one: tuple[str, dict[str, bytes]], other: tuple[str, dict[str, bytes]]
) -> None:
    equal = hash_fields(*one) == hash_fields(*other)
    assert equal == (one == other)


@given(_fields)
def test_the_stream_of_fields_can_be_read_back(fields: dict[str, bytes]) -> None:
    """So no two mappings have one stream: what is not lost cannot be the same."""
    stream = documented_fields(fields)

    def take(size: int) -> bytes:
        nonlocal stream
        taken, stream = stream[:size], stream[size:]
        return taken

    def take_sized() -> bytes:
        return take(struct.unpack(">Q", take(8))[0])

    count = struct.unpack(">Q", take(8))[0]
    read = {take_sized().decode(): take_sized() for _ in range(count)}
    assert (read, stream) == (fields, b"")


def test_a_purpose_is_no_part_of_what_is_hashed() -> None:
    digests = {
        hash_fields("a", {"b": b"c"}),
        hash_fields("ab", {"": b"c"}),
        hash_fields("", {"ab": b"c"}),
        hash_bytes(documented_fields({"b": b"c"})),
    }
    assert len(digests) == 4


def test_a_file_on_its_own(tmp_path: Path) -> None:
    data = bytes(range(256)) * 8192
    (tmp_path / "file").write_bytes(data)
    assert hash_file(tmp_path / "file") == hash_bytes(data)


_NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1).filter(
        lambda name: name not in (".", "..", "case.toml") and len(name.encode()) < 200
    ),
    min_size=1,
    max_size=3,
).map("/".join)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        _NAMES, st.tuples(st.binary(max_size=40), st.booleans()), max_size=6
    )
)
def test_contents_have_the_digest_of_their_tree(
    files: dict[str, tuple[bytes, bool]],
) -> None:
    # A directory is no file; the shorter of two such paths goes.
    files = {
        name: file
        for name, file in files.items()
        if not any(other.startswith(f"{name}/") for other in files)
    }
    tree = {name: (b"x" if x else b"f", data) for name, (data, x) in files.items()}
    assert hash_contents(files) == digest_on_disk(tree)


def test_contents_may_be_in_files(tmp_path: Path) -> None:
    large = bytes(range(256)) * 8192
    (tmp_path / "outside").write_bytes(large)
    # What it is called, and may do, outside is of no matter.
    (tmp_path / "outside").chmod(0o755)
    (tmp_path / "link").symlink_to("outside")
    tree: Tree = {"a": (b"f", large), "b": (b"x", large)}
    for source in (tmp_path / "outside", tmp_path / "link"):
        files: dict[str, tuple[bytes | Path, bool]] = {
            "b": (source, True),
            "a": (large, False),
        }
        assert hash_contents(files) == digest_on_disk(tree)
