"""Outliers: readings far away from what the channel showed just before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gaugelog.readings import Reading
from gaugelog.windows import collect


@dataclass(frozen=True, slots=True)
class Alarm:
    """A reading and how many standard deviations it is off, with its sign."""

    reading: Reading
    deviation: float


def find_outliers(
    readings: Iterable[Reading], window_seconds: int, threshold: float = 4.0
) -> list[Alarm]:
    """Return the outliers, in the order of the readings.

    A reading is judged by the window of its channel that ends where its own
    begins. Where there is none, or its values do not vary, there is nothing to
    judge by and no alarm.
    """
    readings = list(readings)
    known = {
        (window.channel, window.end): window.moments
        for window in collect(readings, window_seconds)
    }
    alarms = []
    for reading in readings:
        start = reading.seconds - reading.seconds % window_seconds
        before = known.get((reading.channel, start))
        if before is None or not before.stdev:
            continue
        deviation = (reading.value - before.mean) / before.stdev
        if abs(deviation) > threshold:
            alarms.append(Alarm(reading, deviation))
    return alarms
