"""Tumbling windows: each reading belongs to exactly one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gaugelog.moments import Moments
from gaugelog.readings import Reading


@dataclass(frozen=True, slots=True)
class Window:
    """The readings of one channel in ``[start, start + length)``, condensed."""

    channel: str
    start: int
    length: int
    moments: Moments = field(default_factory=Moments, compare=False)

    @property
    def end(self) -> int:
        """The first second after the window."""
        return self.start + self.length


def collect(readings: Iterable[Reading], window_seconds: int) -> list[Window]:
    """Put readings into windows.

    Returns:
        The windows that hold readings, by channel and start.

    Raises:
        ValueError: ``window_seconds`` is not positive.
    """
    if window_seconds <= 0:
        raise ValueError(f"window_seconds must be positive, got {window_seconds}")
    windows: dict[tuple[str, int], Window] = {}
    for reading in readings:
        start = reading.seconds - reading.seconds % window_seconds
        key = (reading.channel, start)
        if key not in windows:
            windows[key] = Window(reading.channel, start, window_seconds)
        windows[key].moments.add(reading.value)
    return [windows[key] for key in sorted(windows)]


def rollup(windows: Iterable[Window], window_seconds: int) -> list[Window]:
    """Merge windows into longer ones.

    Raises:
        ValueError: ``window_seconds`` is not a multiple of a window's length.
    """
    merged: dict[tuple[str, int], Window] = {}
    for window in windows:
        if window_seconds % window.length:
            raise ValueError(
                f"{window_seconds} s is not a multiple of the {window.length} s "
                f"of the window at {window.start} of {window.channel!r}"
            )
        start = window.start - window.start % window_seconds
        key = (window.channel, start)
        before = merged[key].moments if key in merged else Moments()
        merged[key] = Window(
            window.channel, start, window_seconds, before.merge(window.moments)
        )
    return [merged[key] for key in sorted(merged)]
