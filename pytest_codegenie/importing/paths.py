"""Paths that somebody's dataset names: none may lead out of the case it is in."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path


_MAX_PART_BYTES = 255
_MAX_PATH_BYTES = 1024
#: What a case is made of, beside ``case.toml``.
_TOPS = ("input", "expected")


@functools.lru_cache(maxsize=1024)  # instances have many in common
def path_fault(name: str) -> str:
    """Say why a case may not have a file of that path; "" if it may.

    Args:
        name: POSIX path relative to the case.
    """
    try:
        raw = name.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        return "leads out of the case"
    if "" in parts or "." in parts or "\0" in name:
        return "is no plain relative path"
    if parts[0] not in _TOPS or len(parts) == 1:
        return "is neither in input/ nor in expected/"
    if any(part.casefold() == ".git" for part in parts):
        return "is in a .git, whose configuration git would follow"
    if len(raw) > _MAX_PATH_BYTES or any(
        len(part.encode()) > _MAX_PART_BYTES for part in parts
    ):
        return f"is too long: {_MAX_PATH_BYTES} bytes, {_MAX_PART_BYTES} a part"
    return ""


def clash(names: Iterable[str]) -> str:
    """Return a path that is a file and a directory at once; "" if there is none."""
    known = set(names)
    for name in sorted(known):
        above = name.rpartition("/")[0]
        while above:
            if above in known:
                return above
            above = above.rpartition("/")[0]
    return ""


def leads_out(path: Path, root: Path) -> bool:
    """Tell whether a file of a dataset is, by links, one from outside of it.

    A file that is named by a path outside of the dataset was named by whoever runs the
    import, not by the dataset.

    Args:
        path: A file that is to be copied.
        root: The dataset's directory.
    """
    # Lexically: that links are not followed here is the point.
    inside = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root))  # noqa: PTH100
    return inside and not path.resolve().is_relative_to(root.resolve())
