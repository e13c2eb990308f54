"""The last good listing of a case on this machine: which files a mismatch is in.

A digest says only that something differs. When cases are signed, or pass ``codegenie
verify``, the digest of each single file is kept in the user's cache, under the case's
digest; a later mismatch is compared with it. It is a convenience: no verdict depends
on it.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from pytest_codegenie.documents import write_atomically
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import hash_files


def remember_listing(directory: Path, digest: str) -> None:
    """Keep the listing of a case whose digest is known to be good."""
    # RuntimeError: the user has no home directory.
    with contextlib.suppress(OSError, RuntimeError, UnhashableEntryError):
        path = _path(digest)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(hash_files(directory)))


def differing_paths(directory: Path, digest: str) -> tuple[str, ...]:
    """Return what differs from the listing of ``digest``: ``path (how)``, sorted.

    Empty where no listing of that digest is known here.
    """
    try:
        before = dict(json.loads(_path(digest).read_bytes()))
        now = hash_files(directory)
    except (OSError, RuntimeError, TypeError, ValueError, UnhashableEntryError):
        return ()
    differs = []
    for path in sorted(before.keys() | now.keys()):
        if path not in now:
            differs.append(f"{path} (missing)")
        elif path not in before:
            differs.append(f"{path} (new)")
        elif before[path] != now[path]:
            differs.append(f"{path} (changed)")
    return tuple(differs)


def _path(digest: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "pytest-codegenie", "listings", digest.partition(":")[2])
