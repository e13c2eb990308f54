"""Windowed statistics for streams of gauge readings."""

from gaugelog.alarms import Alarm, find_outliers
from gaugelog.moments import Moments
from gaugelog.readings import Reading, ReadingError, read_csv
from gaugelog.report import summarise
from gaugelog.windows import Window, collect, rollup

__all__ = [
    "Alarm",
    "Moments",
    "Reading",
    "ReadingError",
    "Window",
    "collect",
    "find_outliers",
    "read_csv",
    "rollup",
    "summarise",
]
