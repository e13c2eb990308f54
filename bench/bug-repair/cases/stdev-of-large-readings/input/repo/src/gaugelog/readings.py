"""Readings and the CSV files they come in."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class ReadingError(ValueError):
    """A line that is not a reading.

    Attributes:
        line: The number of the line, counted from 1.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that a channel showed at a time, in whole seconds."""

    channel: str
    seconds: int
    value: float


def read_csv(lines: Iterable[str]) -> Iterator[Reading]:
    """Yield the readings of ``channel,seconds,value`` lines.

    Blank lines and lines that begin with ``#`` are skipped.

    Raises:
        ReadingError: A line has another shape.
    """
    for number, row in enumerate(csv.reader(lines), start=1):
        if not row or row[0].startswith("#"):
            continue
        if len(row) != 3:
            raise ReadingError(number, f"expected 3 fields, got {len(row)}")
        channel, seconds, value = (field.strip() for field in row)
        try:
            yield Reading(channel, int(seconds), float(value))
        except ValueError as exc:
            raise ReadingError(number, str(exc)) from exc
