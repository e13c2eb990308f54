r"""Lines below pytest's own output, on the terminal that it goes to.

The cursor stays where pytest has left it, and all below is ours. Before pytest writes,
what is below the cursor is erased; afterwards it is drawn again: down by newlines, so
that the screen scrolls, and back up by as many lines to pytest's column. Nothing
depends on where on the screen that is.
"""

from __future__ import annotations

import contextlib
import os
import re
import termios
import threading
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple
from typing import TextIO

from _pytest._io.terminalwriter import TerminalWriter
from _pytest._io.wcwidth import wcwidth


_ERASE_BELOW = "\x1b[J"
#: CSI and OSC sequences (colours, progress in the tab), and those of two characters.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
)
_TAB = 8


class TerminalArea:
    """Lines below what a writer writes.

    Once anything goes wrong it is gone, and the writer is as it was before.

    Args:
        writer: That of pytest's terminal reporter; it writes to a terminal.
        failed: Told what went wrong.
    """

    def __init__(
        self, writer: TerminalWriter, failed: Callable[[Exception], None]
    ) -> None:
        self._writer = writer
        self._failed = failed
        self._lock = threading.RLock()
        self._file: TextIO = writer._file
        # While a case runs its output is captured, and pytest's file is not a terminal.
        self._fd = os.dup(self._file.fileno())
        self._place = os.fstat(self._fd)
        line = writer._current_line.rpartition("\r")[2]
        self._cursor = Position().after(line, self._size().columns)
        self._lines: Sequence[str] = ()
        self._drawn = False
        self.is_open = True
        self._modes = self._keep_keys_from_showing()
        writer._file = _Past(self._file, self)

    def _keep_keys_from_showing(self) -> list[Any] | None:
        """Have keys not echoed: ``^C`` within a line of ours would move all below.

        Returns:
            The terminal's modes before; None where they are left as they are.
        """
        with contextlib.suppress(termios.error):
            if self._in_front():
                modes = termios.tcgetattr(self._fd)
                silent = [*modes[:3], modes[3] & ~termios.ECHO, *modes[4:]]
                termios.tcsetattr(self._fd, termios.TCSANOW, silent)
                return modes
        return None

    def show(self, compose: Callable[[int, int], Sequence[str]]) -> None:
        """Show other lines than before.

        Args:
            compose: Returns them, for the terminal's columns and rows: each narrower
                than that, together not as high.
        """
        with self._lock, self._giving_up():
            if self.is_open:
                lines = compose(*self._size())
                if lines != self._lines:
                    self._lines = lines
                    self._put(self._erasing() + self._drawing())

    def close(self, *, below: bool = False) -> None:
        """Leave the terminal, and the writer, as if there had been no lines.

        Args:
            below: Somebody else has begun to write, on a line of their own.
        """
        with self._lock:
            if not self.is_open:
                return
            self.is_open = False
            if isinstance(self._writer._file, _Past):
                self._writer._file = self._file
            erasing = self._erasing()
            with contextlib.suppress(OSError):
                self._put(f"\r{_ERASE_BELOW}" if erasing and below else erasing)
            if self._modes is not None and self._in_front():
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self._fd, termios.TCSANOW, self._modes)
            with contextlib.suppress(OSError):
                os.close(self._fd)

    def write_past(self, text: str) -> int:
        """Write what pytest has to say, above the lines."""
        with self._lock:
            if not (self.is_open and self._is_the_terminal()):
                return self._file.write(text)
            with self._giving_up():
                self._put(self._erasing())
            written = self._file.write(text)
            self._file.flush()
            if self.is_open:
                with self._giving_up():
                    self._cursor = self._cursor.after(text, self._size().columns)
                    self._put(self._drawing())
            return written

    def _size(self) -> os.terminal_size:
        size = os.get_terminal_size(self._fd)
        return size if all(size) else os.terminal_size((80, 24))

    def _erasing(self) -> str:
        drawn, self._drawn = self._drawn, False
        return self._back() + _ERASE_BELOW if drawn else ""

    def _drawing(self) -> str:
        # In the last column a terminal waits with going to the next line, and it cannot
        # be brought back to that. And within a line, erasing would take its rest. Then
        # there are no lines until pytest goes on.
        column, end = self._cursor
        if not self._lines or column >= self._size().columns or column < end:
            return ""
        self._drawn = True
        below = "".join(f"\n{line}" for line in self._lines)
        return f"{_ERASE_BELOW}{below}\x1b[{len(self._lines)}A{self._back()}"

    def _back(self) -> str:
        """Return what moves to pytest's column."""
        column = self._cursor.column
        return f"\r\x1b[{column}C" if column else "\r"

    def _put(self, text: str) -> None:
        if not text or not self._in_front():
            return
        data = memoryview(text.encode(self._file.encoding or "ascii", "replace"))
        while data:
            data = data[os.write(self._fd, data) :]

    def _in_front(self) -> bool:
        """Say whether the terminal is ours now, not a shell's that put us behind."""
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            return True  # a terminal that controls nobody

    def _is_the_terminal(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._place)
        except (OSError, ValueError):
            return False

    @contextlib.contextmanager
    def _giving_up(self) -> Iterator[None]:
        try:
            yield
        except Exception as exc:
            self.close()
            self._failed(exc)


class _Past:
    """The file of pytest's terminal writer: what is written goes past the lines."""

    def __init__(self, file: TextIO, area: TerminalArea) -> None:
        self._file = file
        self._area = area

    def write(self, text: str) -> int:
        return self._area.write_past(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


class Position(NamedTuple):
    """Where in its line the cursor is, in cells."""

    #: 0-based; the terminal's width for past the last.
    column: int = 0
    #: Where the line's text ends.
    end: int = 0

    def after(self, text: str, width: int) -> Position:
        """Return where the cursor is after a text.

        Args:
            text: With the escape sequences that pytest writes: none moves the cursor.
            width: Of the terminal.
        """
        column, end = self
        for char in _ESCAPES.sub("", text):
            if char == "\n":
                column = end = 0
            elif char == "\r":
                column = 0
            elif char == "\b":
                column = max(0, min(column, width - 1) - 1)
            elif char == "\t":
                column = min(width - 1, (column // _TAB + 1) * _TAB)
            else:
                size = max(0, wcwidth(char))
                if column + size > width:
                    column = end = 0
                column += size
            end = max(end, column)
        return Position(column, end)
