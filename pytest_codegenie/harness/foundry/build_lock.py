"""One build of a project at a time: a lock of the kernel's, gone with its holder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pytest_codegenie.errors import ProjectError


class BuildLock:
    """Held by whoever builds a project, until ``release`` or the end of the process.

    Args:
        path: The lock's file; its directory exists.

    Raises:
        ProjectError: Another process holds it, or it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as exc:
            raise ProjectError(path, f"cannot be made: {exc.strerror}") from exc
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._fd)
            raise ProjectError(
                path,
                "another build of this project goes on; wait for its end, or stop it",
            ) from None
        except OSError as exc:
            os.close(self._fd)
            raise ProjectError(path, f"cannot be locked: {exc.strerror}") from exc

    def release(self) -> None:
        """Let go of it; the file stays."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
