"""One session at a time works on a run: what it holds as long as it lives.

Locks of the kernel's: it lets go of them when the holder dies, by ``kill -9`` too. The
session itself holds one alone; its workers share another one, because a worker may
outlive a session that was killed by what it is just doing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative


SESSION_LOCK = "session.lock"
WORKERS_LOCK = "workers.lock"
#: An orphaned worker of xdist ends itself in 15 s, whatever it does.
PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.05


class RunLock:
    """Held by whoever works on a run, until ``release`` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as exc:
            raise RunStoreError(path, f"cannot be made: {exc.strerror}") from exc

    @classmethod
    def of_session(cls, run_directory: Path) -> RunLock:
        """Return the lock of the session that works on a run.

        Raises:
            ConfigError: Another one does.
            RunStoreError: The file system has no locks, or cannot be written.
        """
        lock = cls(run_directory / SESSION_LOCK)
        if not lock._try(fcntl.LOCK_EX):
            lock.release()
            raise ConfigError(
                "--codegenie-resume",
                run_directory.name,
                f"another session works on this run, in {relative(run_directory)}; "
                "wait for its end, or stop it",
            )
        return lock

    @classmethod
    def of_worker(cls, run_directory: Path) -> RunLock:
        """Return the lock that a worker shares with others of its session."""
        lock = cls(run_directory / WORKERS_LOCK)
        with contextlib.suppress(OSError):
            fcntl.flock(lock._fd, fcntl.LOCK_SH)
        return lock

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as exc:
            self.release()
            reason = f"cannot be locked: {exc.strerror}"
            raise RunStoreError(self._path, reason) from exc
        return True

    def release(self) -> None:
        """Let go of it; the file stays, as others may wait for it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def wait_for_orphans(run_directory: Path, say: Callable[[str], None]) -> None:
    """Wait until the workers of a session that was killed have ended.

    Args:
        run_directory: Of a run whose session lock is held.
        say: Told once what is waited for, where there is anything.

    Raises:
        ConfigError: They do not end.
        RunStoreError: The file system has no locks, or cannot be written.
    """
    lock = RunLock(run_directory / WORKERS_LOCK)
    deadline = time.monotonic() + PATIENCE_SECONDS
    said = False
    try:
        while not lock._try(fcntl.LOCK_EX):
            if not said:
                say("waits for workers of a session that was killed")
                said = True
            if time.monotonic() > deadline:
                raise ConfigError(
                    "--codegenie-resume",
                    run_directory.name,
                    "workers of a session that was killed still work on this run, in "
                    f"{relative(run_directory)}; end them, or try again later",
                )
            time.sleep(_PAUSE_SECONDS)
    finally:
        lock.release()
