"""What files a tree has, so that two can be compared by their contents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.trees import walk


#: What tools leave beside code, and nobody means to hand in.
BY_PRODUCTS = (
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".git",
    ".coverage",
)
BY_PRODUCT_ENDS = (".pyc", ".pyo", ".egg-info")

Kind = Literal["file", "program", "link", "other"]


@dataclass(frozen=True, slots=True)
class Found:
    """One file of a tree."""

    kind: Kind
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Changes:
    """How a tree differs from the one that it was made from; paths are sorted."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    #: Of ``added`` and ``modified``: what is neither file nor directory.
    special: tuple[str, ...] = ()
    #: Of all that was written.
    size: int = 0

    @property
    def written(self) -> tuple[str, ...]:
        """Return what was added or modified."""
        return tuple(sorted((*self.added, *self.modified)))

    @property
    def all(self) -> tuple[str, ...]:
        """Return every path that differs."""
        return tuple(sorted((*self.written, *self.deleted)))


def is_by_product(path: str) -> bool:
    """Say whether a path is, or lies in, what tools leave."""
    return any(
        part.lower() in BY_PRODUCTS or part.endswith(BY_PRODUCT_ENDS)
        for part in path.split("/")
    )


def list_tree(directory: Path) -> dict[str, Found]:
    """Return all files below a directory but by-products; no link is followed."""
    return dict(_files(directory))


def _files(directory: Path) -> Iterator[tuple[str, Found]]:
    for path, entry in walk(directory):
        if is_by_product(path) or entry.is_dir(follow_symlinks=False):
            continue
        yield path, _found(Path(entry.path))


def _found(path: Path) -> Found:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return Found("link", hash_bytes(os.fsencode(path.readlink())), 0)
    if not stat.S_ISREG(status.st_mode):
        return Found("other", "", 0)
    kind: Kind = "program" if status.st_mode & stat.S_IXUSR else "file"
    return Found(kind, hash_bytes(path.read_bytes()), status.st_size)


def compare(before: Mapping[str, Found], after: Mapping[str, Found]) -> Changes:
    """Return how one tree differs from another."""
    added = sorted(after.keys() - before.keys())
    modified = sorted(
        path for path in after.keys() & before.keys() if after[path] != before[path]
    )
    written = [*added, *modified]
    return Changes(
        added=tuple(added),
        modified=tuple(modified),
        deleted=tuple(sorted(before.keys() - after.keys())),
        special=tuple(
            sorted(path for path in written if after[path].kind in ("link", "other"))
        ),
        size=sum(after[path].size for path in written),
    )
