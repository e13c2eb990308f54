"""Writing to the terminal: what commands say, and what is wrong."""

from __future__ import annotations

import sys


def say(text: str = "") -> None:
    """Write a line to the standard output, at once: a build may go on for hours."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Write a line to the standard error."""
    sys.stderr.write(f"codegenie: {text}\n")
    sys.stderr.flush()
