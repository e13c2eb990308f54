"""The text report."""

from __future__ import annotations

from collections.abc import Iterable

from gaugelog.readings import Reading
from gaugelog.windows import Window, collect

HEADER = f"{'channel':<12} {'start':>10} {'n':>5} {'mean':>14} {'stdev':>10}"


def format_number(number: float | None, digits: int) -> str:
    """Return ``number`` with so many decimals, ``-`` for ``None``."""
    return "-" if number is None else f"{number:.{digits}f}"


def format_window(window: Window) -> str:
    """Return the report's line for a window."""
    moments = window.moments
    return (
        f"{window.channel:<12} {window.start:>10} {moments.count:>5} "
        f"{format_number(moments.mean, 3):>14} "
        f"{format_number(moments.stdev, 4):>10}"
    )


def summarise(readings: Iterable[Reading], window_seconds: int = 3600) -> str:
    """Return a table with a line for each window."""
    lines = [HEADER]
    lines += [format_window(window) for window in collect(readings, window_seconds)]
    return "\n".join(lines)
