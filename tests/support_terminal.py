"""A terminal with somebody at it: what a program shows there, and keys pressed."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyte
import pytest


CTRL_C = "\x03"
#: Then a test fails that would never end.
_PATIENCE_SECONDS = 90


class Screen:
    """What a terminal emulator shows of the bytes it gets."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self._screen: Any = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._columns = columns
        self.raw = b""

    def feed(self, data: bytes) -> None:
        """Take what a program wrote."""
        self.raw += data
        self._stream.feed(data)

    def lines(self) -> list[str]:
        """Return the lines in sight, without what is blank at their ends."""
        return [line.rstrip() for line in self._screen.display]

    def text(self) -> str:
        """Return all lines, also those that were scrolled out of sight."""
        gone = [
            "".join(line[column].data for column in range(self._columns)).rstrip()
            for line in self._screen.history.top
        ]
        return "\n".join(gone + self.lines()).rstrip()

    @property
    def cursor(self) -> tuple[int, int]:
        """(row, column), both 0-based."""
        return self._screen.cursor.y, self._screen.cursor.x


def open_terminal(columns: int = 80, rows: int = 24) -> tuple[int, int]:
    """Return (the side of whoever looks, the side of programs)."""
    ours, theirs = os.openpty()
    resize(theirs, columns, rows)
    return ours, theirs


def resize(fd: int, columns: int, rows: int) -> None:
    """Give a terminal another size."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    """A program that has a terminal of its own, in front of it as in a shell."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        *,
        env: Mapping[str, str] | None = None,
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        self.screen = Screen(columns, rows)
        self._ours, theirs = open_terminal(columns, rows)
        # A session's leader gets the first terminal that it opens as its own.
        script = 'exec "$@" <"$0" >"$0" 2>&1'
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", script, os.ttyname(theirs), *argv],
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", "CI": "", **(env or {})},
            start_new_session=True,
        )
        self._keep_open = theirs

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def wait_for(self, shown: Callable[[str], object]) -> None:
        """Look at the screen until it shows what is waited for."""
        self._look_until(
            lambda: (
                shown("\n".join(self.screen.lines())) or self.process.poll() is not None
            )
        )
        if not shown("\n".join(self.screen.lines())):
            self._fail("ended without showing it")

    def end(self) -> int:
        """Look at the screen until the program ends; return its exit code."""
        self._look_until(lambda: self.process.poll() is not None)
        while self._look(0.0):
            pass
        os.close(self._ours)
        os.close(self._keep_open)
        return self.process.returncode

    def _look_until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                self._fail("is stuck")
            self._look(0.05)

    def _fail(self, what: str) -> None:
        self.process.kill()
        self.process.wait()
        pytest.fail(f"the program {what}:\n{self.screen.text()}")

    def _look(self, seconds: float) -> bool:
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        self.screen.feed(os.read(self._ours, 1 << 16))
        return True
