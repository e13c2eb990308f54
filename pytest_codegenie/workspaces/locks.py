"""A lock between processes: what many ask for is made by one, and others wait."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a file's lock; wait for it as long as it takes.

    The kernel lets go of it when the holder dies, by ``kill -9`` too. The file stays:
    removing it would let two hold what they take for the same lock.

    Args:
        path: Made, with the directories above it, where it is not there.

    Raises:
        OSError: It cannot be made or locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
