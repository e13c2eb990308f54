"""Archives come from anybody: what is in them stays in them."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.sources.archives import unpack


FILES = {"top/a.txt": b"a\r\n", "top/pkg/b.py": b"", "top/run.sh": b"#!/bin/sh\n"}


def _tar(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def _info(
    name: str, kind: bytes = tarfile.REGTYPE, **fields: object
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def _zip(path: Path, *members: tuple[str, int, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, mode, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            file.writestr(info, content, zipfile.ZIP_DEFLATED)
    return path


def _plain(path: Path, mode: str) -> Path:
    members = []
    for name, content in FILES.items():
        bits = 0o6777 if name.endswith(".sh") else 0o600
        members.append((_info(name, mode=bits, mtime=5), content))
    return _tar(path, *members, mode=mode)


def _plain_zip(path: Path) -> Path:
    members = []
    for name, content in FILES.items():
        bits = 0o755 if name.endswith(".sh") else 0
        members.append((name, bits and stat.S_IFREG | bits, content))
    return _zip(path, *members)


@pytest.mark.parametrize("kind", ["w", "w:gz", "w:bz2", "w:xz", "zip"])
def test_files_come_out_without_the_directory_they_are_all_in(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "archive"
    archive = _plain_zip(path) if kind == "zip" else _plain(path, kind)
    tree = unpack(archive, tmp_path / "out")
    found = {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file()
    }
    assert found == {name.removeprefix("top/"): data for name, data in FILES.items()}
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tree.iterdir()}
    assert (modes["run.sh"], modes["a.txt"]) == (0o755, 0o644)


def test_what_lies_beside_each_other_stays_so(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "a.zip", ("one/x", 0, b"1"), ("two", 0, b"2"))
    tree = unpack(archive, tmp_path / "out")
    assert sorted(path.name for path in tree.iterdir()) == ["one", "two"]


def test_links_inside_are_links_and_hard_links_are_files(tmp_path: Path) -> None:
    archive = _tar(
        tmp_path / "a.tar",
        (_info("top/sub/link", tarfile.SYMTYPE, linkname="../a.txt"), b""),
        (_info("top/a.txt"), b"a"),
        (_info("top/hard", tarfile.LNKTYPE, linkname="top/a.txt"), b""),
        (_info("top/dangling", tarfile.SYMTYPE, linkname="nothing"), b""),
    )
    tree = unpack(archive, tmp_path / "out")
    assert (tree / "sub/link").readlink() == Path("../a.txt")
    assert (tree / "sub/link").read_bytes() == b"a"
    assert not (tree / "hard").is_symlink()
    assert (tree / "hard").read_bytes() == b"a"
    assert (tree / "dangling").is_symlink()


def test_history_and_git_settings_are_left_out(tmp_path: Path) -> None:
    archive = _tar(
        tmp_path / "a.tar",
        (_info("top/.git/config"), b"[core]\n"),
        (_info("top/sub/.GIT"), b"gitdir: /x\n"),
        (_info("top/a.txt"), b"a"),
    )
    tree = unpack(archive, tmp_path / "out")
    assert [path.name for path in tree.rglob("*")] == ["a.txt"]


def _evil_tar(*members: tuple[tarfile.TarInfo, bytes]) -> Callable[[Path], Path]:
    return lambda path: _tar(path, *members)


def _link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return _info(name, tarfile.SYMTYPE, linkname=target), b""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_evil_tar((_info("../evil"), b"x")), "'../evil' leads out"),
        (_evil_tar((_info("/EVIL"), b"x")), "'/EVIL' leads out"),
        (_evil_tar((_info("a/../../evil"), b"x")), "leads out"),
        (lambda path: _zip(path, ("../evil", 0, b"x")), "'../evil' leads out"),
        (_evil_tar(_link("l", "/etc/passwd")), "the link 'l' leads out"),
        (_evil_tar(_link("a/l", "../../x")), "the link 'a/l' leads out"),
        (
            lambda path: _zip(path, ("l", stat.S_IFLNK | 0o777, b"../../evil")),
            "the link 'l' leads out",
        ),
        # The second goes through the first, and out; so does what lies below it.
        (
            _evil_tar(_link("a/b/up", "../.."), _link("out", "a/b/up/../x")),
            "the link 'out' leads out",
        ),
        (
            _evil_tar(_link("out", "a"), _link("a", "b/../../../x"), _link("b", ".")),
            "the link '(a|out)' leads out",
        ),
        (
            _evil_tar(_link("l", ".."), (_info("l/evil"), b"x")),
            "'l' is a file and a directory at once",
        ),
        (
            _evil_tar(_link("loop", "loop/x"), _link("loop/l", "x")),
            "leads out|at once",
        ),
        (_evil_tar((_info("a"), b""), (_info("a/b"), b"")), "a file and a directory"),
        (
            _evil_tar((_info("dev", tarfile.CHRTYPE), b"")),
            "'dev' is a device or",
        ),
        (_evil_tar((_info("f", tarfile.FIFOTYPE), b"")), "'f' is .* or a FIFO"),
        (
            lambda path: _zip(path, ("dev", stat.S_IFCHR | 0o666, b"")),
            "'dev' is no file and no link",
        ),
        (
            _evil_tar((_info("h", tarfile.LNKTYPE, linkname="../evil"), b"")),
            "cannot be unpacked: .*link to nothing",
        ),
    ],
)
def test_what_is_in_an_archive_cannot_get_out(
    tmp_path: Path, make: Callable[[Path], Path], words: str
) -> None:
    place = tmp_path / "place" / "deep" / "down"
    place.mkdir(parents=True)
    with pytest.raises(WorkspaceUnavailable, match=words):
        unpack(make(tmp_path / "archive"), place / "out")
    outside = [path for path in tmp_path.rglob("*") if "out" not in path.parts]
    assert {path.name for path in outside} <= {"archive", "place", "deep", "down"}


def test_more_than_is_allowed_is_not_unpacked(tmp_path: Path) -> None:
    bomb = _zip(tmp_path / "bomb", ("zeros", 0, bytes(3 << 20)))
    assert bomb.stat().st_size < 10_000
    with pytest.raises(WorkspaceUnavailable, match="it is larger than 1000 bytes"):
        unpack(bomb, tmp_path / "out", max_bytes=1000)
    # It stopped with the first block.
    assert (tmp_path / "out/zeros").stat().st_size == 1 << 20
    many = _zip(tmp_path / "many", *((f"{n}", 0, b"") for n in range(4)))
    with pytest.raises(WorkspaceUnavailable, match="more than 3 files"):
        unpack(many, tmp_path / "out2", max_entries=3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no archive that can be read"),
        (b"<html>Not found</html>", "no archive that can be read"),
        (b"\x28\xb5\x2f\xfd zstandard", "no archive that can be read: a tar file"),
    ],
)
def test_what_is_no_archive_is_said(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(WorkspaceUnavailable, match=f"^FILE: {words}"):
        unpack(path, tmp_path / "out", shown="FILE")


@pytest.mark.parametrize("kind", ["w:gz", "w:xz", "zip"])
def test_an_archive_that_was_cut_off_is_said(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "archive"
    _plain_zip(path) if kind == "zip" else _plain(path, kind)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(WorkspaceUnavailable, match=r"cannot be unpacked|no archive"):
        unpack(path, tmp_path / "out")
