"""The one commit that a workspace has, written as git does it, without running git.

``git add`` makes an object file of each file, and each copy of the git directory, and
its removal, pay for those again. Here all objects lie in one pack, and not compressed;
the commit is the same, to the last bit.
"""

from __future__ import annotations

import os
import stat
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.packs import STORED_BYTES
from pytest_codegenie.workspaces.packs import Pack
from pytest_codegenie.workspaces.packs import summed


_FILE = 0o100644
_PROGRAM = 0o100755
_LINK = 0o120000
_DIRECTORY = 0o040000

#: Where the index has a path's length; a longer path ends at its NUL.
_MAX_PATH_LENGTH = 0xFFF


class _Item(NamedTuple):
    """A line of a tree object, by its name, or of the index, by its path."""

    name: bytes
    mode: int
    object_id: bytes


def write_single_commit(tree: Path, git_dir: Path, who: str, message: str) -> None:
    """Write a commit of all files and links of a tree, the branch ``main``, an index.

    What git records under no circumstances is left out: all that is named ``.git``, in
    any spelling, and a link as ``.gitmodules``.

    Args:
        tree: It must not change meanwhile.
        git_dir: Has ``objects/pack`` and ``refs/heads``, both empty.
        who: Author and committer, with the time: ``A <a@b> 1577836800 +0000``.
        message: One line.

    Raises:
        OSError: Something cannot be read or written.
    """
    with Pack(git_dir / "objects" / "pack") as pack:
        files = sorted(_add_files(pack, tree))
        tree_id = _add_trees(pack, files).hex()
        text = f"tree {tree_id}\nauthor {who}\ncommitter {who}\n\n{message}\n"
        commit_id = pack.add(b"commit", text.encode()).hex()
    (git_dir / "refs" / "heads" / "main").write_text(f"{commit_id}\n", encoding="ascii")
    (git_dir / "index").write_bytes(_index(files))


def _add_files(pack: Pack, tree: Path) -> Iterator[_Item]:
    """Add a blob for each file and link; yield them by their paths."""
    for path, entry in walk(tree):
        if ".git" in path.lower().split("/"):
            continue
        if entry.is_symlink():
            if entry.name.lower() == ".gitmodules":
                continue
            target = os.fsencode(os.readlink(entry.path))  # noqa: PTH115 -- hot
            yield _Item(os.fsencode(path), _LINK, pack.add(b"blob", target))
        elif entry.is_file():
            yield _Item(os.fsencode(path), *_add_file(pack, entry.path))


def _add_file(pack: Pack, path: str) -> tuple[int, bytes]:
    """Add a file's blob; return (mode, object id)."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        mode = _PROGRAM if status.st_mode & stat.S_IXUSR else _FILE
        if status.st_size > STORED_BYTES:
            return mode, pack.add_large(fd, status.st_size)
        return mode, pack.add(b"blob", os.read(fd, STORED_BYTES))
    finally:
        os.close(fd)


def _add_trees(pack: Pack, files: list[_Item]) -> bytes:
    """Add a tree for each directory that is not empty; return the id of the root's."""
    inside: dict[bytes, list[_Item]] = defaultdict(list)
    directories = set()
    for path, mode, object_id in files:
        directory, _, name = path.rpartition(b"/")
        inside[directory].append(_Item(name, mode, object_id))
        while directory and directory not in directories:
            directories.add(directory)
            directory = directory.rpartition(b"/")[0]
    # A directory sorts before what is below it, so those are complete by then.
    for directory in sorted(directories, reverse=True):
        parent, _, name = directory.rpartition(b"/")
        tree_id = pack.add(b"tree", _tree(inside[directory]))
        inside[parent].append(_Item(name, _DIRECTORY, tree_id))
    return pack.add(b"tree", _tree(inside[b""]))


def _tree(items: list[_Item]) -> bytes:
    """Return a tree's content, in git's order: directories by their names and a /."""
    items.sort(key=lambda item: item.name + b"/" * (item.mode == _DIRECTORY))
    return b"".join(
        b"%o %s\0%s" % (item.mode, item.name, item.object_id) for item in items
    )


def _index(files: list[_Item]) -> bytes:
    """Return an index that knows no file's times and sizes, so that git compares all.

    See gitformat-index(5).
    """
    parts = [struct.pack(">4sII", b"DIRC", 2, len(files))]
    for path, mode, object_id in files:
        length = min(len(path), _MAX_PATH_LENGTH)
        entry = struct.pack(">24xI12x20sH", mode, object_id, length) + path
        parts.append(entry + bytes(8 - len(entry) % 8))
    return summed(*parts)
