"""Reading the files that a test run leaves: judged code can write them too."""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_codegenie.trees import walk


def matching_files(tree: Path, pattern: str) -> list[str]:
    """Return the files and links of a tree that a pattern stands for, in order.

    Links to directories are not followed: what is below one is not in the tree.
    """
    if not pattern:
        return []
    return sorted(
        path
        for path, entry in walk(tree, skip=".git")
        if fnmatchcase(path, pattern) and not entry.is_dir(follow_symlinks=False)
    )


def read_file(path: Path, limit: int) -> bytes | None:
    """Return a file's content; None where it is none, or longer than ``limit``."""
    try:
        # Not waiting for a FIFO's writer, not following a link elsewhere.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with open(fd, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(fd)
    return data if len(data) <= limit else None
