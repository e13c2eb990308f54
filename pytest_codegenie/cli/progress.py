"""How far a command is: one line that changes on a terminal, a few lines elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

from pytest_codegenie.cli.saying import complain


#: Between two looks: a terminal is for people, a log is kept.
_ON_TERMINAL_SECONDS = 0.2
_IN_LOG_SECONDS = 10.0


class Progress:
    """Shows counts on a stream, and lines between them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._between = _ON_TERMINAL_SECONDS if self._terminal else _IN_LOG_SECONDS
        self._started = self._shown = time.monotonic()
        self._steps = 0
        self._drawn = False

    def show(self, text: str) -> None:
        """Count one more, and show the text if it is time.

        Args:
            text: How far it is; the rate is added.
        """
        self._steps += 1
        now = time.monotonic()
        if now - self._shown < self._between:
            return
        self._shown = now
        line = f"{text} ({self._steps / (now - self._started):.0f}/s)"
        if self._terminal:
            self._stream.write(f"\r\x1b[K{line}")
            self._drawn = True
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def say(self, message: object) -> None:
        """Print a line that stays."""
        self.close()
        complain(f"{message}")

    def close(self) -> None:
        """Take away the line that changes."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._drawn = False
