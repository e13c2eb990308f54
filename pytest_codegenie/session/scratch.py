"""The directory that a run's workspaces are in, and what killed runs left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path

from pytest_codegenie.workspaces import remove_tree


_PREFIX = "codegenie-run-"
_LOCK = "owner.lock"


class Scratch:
    """A temporary directory that is locked while its run lives."""

    def __init__(self, run_id: str) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{run_id}-"))
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self.path.exists():
                break
            # Another run's sweep found it before it was locked.
            os.close(self._lock)

    def remove(self) -> None:
        """Remove the directory with all that is in it."""
        remove_tree(self.path)
        os.close(self._lock)


def sweep() -> None:
    """Remove the directories of this user's runs that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            fd = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
            finally:
                os.close(fd)
