"""Files of whole lines that a crash cannot break: how one is appended to.

A writer holds the file's lock. It removes what a crash left of a line, writes, and has
it on the disk before it says so; where it cannot, the file is as it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.errors import RunStoreError


_TAIL_BYTES = 1 << 16


def append_whole(fd: int, lines: bytes) -> None:
    """Append whole lines after the last whole line. They are on the disk afterwards.

    Args:
        fd: Of the file, for reading and writing, locked by the caller.
        lines: One line or several, the last line end included.

    Raises:
        OSError: They are not; the file ends after its last whole line.
    """
    end = whole_lines_end(fd)
    if os.fstat(fd).st_size != end:
        os.ftruncate(fd, end)
    try:
        os.lseek(fd, end, os.SEEK_SET)
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.fsync(fd)
    except OSError:
        os.ftruncate(fd, end)
        raise


def whole_lines_end(fd: int) -> int:
    """Return where the last whole line ends: 0 in a file without any."""
    end = os.lseek(fd, 0, os.SEEK_END)
    if end == 0 or os.pread(fd, 1, end - 1) == b"\n":
        return end
    while end > 0:
        start = max(0, end - _TAIL_BYTES)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (1-based number, line with its end) of all whole lines; none for no file.

    Raises:
        RunStoreError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield number, line
    except FileNotFoundError:
        return
    except OSError as exc:
        raise RunStoreError(path, f"cannot be read: {exc.strerror}") from exc
