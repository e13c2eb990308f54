"""The commit that is written without git: what git itself would have made of a tree."""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces import packs
from pytest_codegenie.workspaces.git import take_diff


def git(git_dir: Path, tree: Path, *arguments: str) -> bytes:
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DIR": str(git_dir),
        "GIT_WORK_TREE": str(tree),
        "GIT_AUTHOR_DATE": "2020-01-01T00:00:00+00:00",
        "GIT_COMMITTER_DATE": "2020-01-01T00:00:00+00:00",
    }
    identity = ["-c", "user.name=codegenie", "-c", "user.email=codegenie@localhost"]
    return subprocess.run(
        ["git", *identity, *arguments],
        cwd=tree,
        env=environment,
        check=True,
        capture_output=True,
    ).stdout


def commit_by_git(tree: Path, git_dir: Path) -> None:
    git(git_dir, tree, "init", "--quiet", "--initial-branch=main")
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text("* -text -filter\n", encoding="ascii")
    git(git_dir, tree, "add", "--all", "--force", ".")
    git(git_dir, tree, "commit", "--quiet", "--allow-empty", "--message=Base")


def write(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def noise(size: int) -> bytes:
    return hashlib.shake_128(b"seed").digest(size)


def fill_kinds(tree: Path) -> None:
    write(tree / "file", b"text\n")
    write(tree / "program", b"#!/bin/sh\n").chmod(0o755)
    write(tree / "for others only", b"1").chmod(0o611)
    write(tree / "empty")
    write(tree / "again" / "file", b"text\n")
    (tree / "link").symlink_to("file")
    (tree / "dangling").symlink_to("/nowhere/\u00e9")
    (tree / "directory").symlink_to("again")
    (tree / "nothing" / "in here").mkdir(parents=True)


def fill_names(tree: Path) -> None:
    for name in (
        b"new\nline",
        b"-rf",
        b"b\xe9te",
        b'"quoted"',
        b"x" * 255,
        b" ",
        b"\\",
    ):
        write(Path(os.fsdecode(os.fsencode(tree) + b"/" + name)), name)
    write(Path(tree, *["deep" * 10] * 50, "file"), b"1")


def fill_order(tree: Path) -> None:
    for name in ("a/x", "a.b", "a-b", "a0", "a.d/x", "a-d/y/x", "A", "ab/x/y/z", "b"):
        write(tree / name, name.encode())


def fill_sizes(tree: Path) -> None:
    for size in (15, 16, 2047, 2048, 65535, 65536, 262144, (3 << 20) + 1):
        write(tree / f"noise-{size}", noise(size))
        write(tree / f"zeros-{size}", bytes(size))
    write(tree / "copy", noise((3 << 20) + 1))
    write(tree / "last", b"after the copy\n")


def fill_many(tree: Path) -> None:
    for number in range(300):
        write(tree / f"{number}-{'n' * 200}", b"%d" % number)


def fill_ignored(tree: Path) -> None:
    write(tree / ".gitignore", b"*.log\n/build\n")
    write(tree / ".gitattributes", b"*.txt text eol=lf\n*.py filter=evil ident\n")
    write(tree / "build" / "kept.log", b"1\n")
    write(tree / "dos.txt", b"one\r\ntwo\r\n")
    write(tree / "code.py", b"$Id$\n")


def fill_nothing(tree: Path) -> None:
    (tree / "empty").mkdir()


TREES = {
    name.removeprefix("fill_"): fill
    for name, fill in list(globals().items())
    if name.startswith("fill_")
}


@pytest.mark.parametrize("fill", TREES.values(), ids=TREES.keys())
def test_a_base_is_what_git_makes_of_the_tree(
    tmp_path: Path, fill: Callable[[Path], None]
) -> None:
    tree, ours, theirs = tmp_path / "tree", tmp_path / "ours", tmp_path / "theirs"
    tree.mkdir()
    fill(tree)
    make_base(tree, ours)
    commit_by_git(tree, theirs)
    for question in (
        ["rev-parse", "main"],
        ["ls-files", "--stage", "-z"],
        ["ls-tree", "-r", "-t", "-z", "main"],
    ):
        assert git(ours, tree, *question) == git(theirs, tree, *question)
    assert git(ours, tree, "fsck", "--full", "--strict", "--unreachable") == b""
    assert git(ours, tree, "status", "--porcelain", "--ignored") == b""


def test_a_base_is_one_pack_that_is_the_same_each_time(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    fill_kinds(tree)
    found = []
    for name in ("one", "two"):
        git_dir = make_base(tree, tmp_path / name).git_dir
        files = [path for path in git_dir.rglob("*") if path.is_file()]
        found.append({path.relative_to(git_dir): path.read_bytes() for path in files})
    assert found[0] == found[1]
    assert sorted(path.suffix for path in found[0] if path.parts[0] == "objects") == [
        ".idx",
        ".pack",
    ]


def test_objects_beyond_two_gigabytes_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "_LARGE_OFFSET", 100)
    tree = tmp_path / "tree"
    tree.mkdir()
    fill_order(tree)
    git_dir = make_base(tree, tmp_path / "base.git").git_dir
    assert git(git_dir, tree, "fsck", "--full", "--strict") == b""
    assert git(git_dir, tree, "show", "main:ab/x/y/z") == b"ab/x/y/z"


def test_no_repository_within_a_base_is_part_of_it(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "sub" / "file", b"1\n")
    write(tree / "other" / ".GIT", b"gitdir: ../sub/.git\n")
    (tree / ".gitmodules").symlink_to("sub/file")
    commit_by_git(tree / "sub", tree / "sub" / ".git")
    git_dir = make_base(tree, tmp_path / "base.git").git_dir
    listed = git(git_dir, tree, "ls-tree", "-r", "--name-only", "main")
    assert listed == b"sub/file\n"


def test_a_base_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    file = write(tree / "file")
    with pytest.raises(WorkspaceUnavailable, match=r"no base .*: .*/file/base.git"):
        make_base(tree, file / "base.git")


def edit_in_place(path: Path) -> None:
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"TEXT")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def edit_mapped(path: Path) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:4] = b"TEXT"


def replace_with_its_times(path: Path) -> None:
    other = write(path.with_name("other"), b"TEXT\n")
    shutil.copystat(path, other)
    other.rename(path)


def change_its_mode(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o100)


@pytest.mark.parametrize(
    "change", [edit_in_place, edit_mapped, replace_with_its_times, change_its_mode]
)
def test_a_change_is_in_the_patch_whatever_size_and_times_say(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    tree, copy, scratch = (tmp_path / name for name in ("tree", "copy", "scratch"))
    write(tree / "file", b"text\n")
    base = make_base(tree, tmp_path / "base.git")
    copy_tree(tree, copy)
    change(copy / "file")
    scratch.mkdir()
    patch = take_diff(base, copy, scratch, tmp_path / "patch.diff")
    assert "+TEXT" in patch or "new mode 100755" in patch
