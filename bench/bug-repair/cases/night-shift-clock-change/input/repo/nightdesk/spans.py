"""The time between two moments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

ZERO = timedelta(0)


@dataclass(frozen=True, slots=True)
class Span:
    """From ``start`` up to ``end``, both aware.

    Raises:
        ValueError: A moment is naive, or the end is not after the start.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError("a span needs moments with a time zone")
        if self.end <= self.start:
            raise ValueError(f"{self.end} is not after {self.start}")

    @property
    def duration(self) -> timedelta:
        """How long it takes."""
        return self.end - self.start

    def overlap(self, other: Span) -> timedelta:
        """How long the two have in common."""
        start = max(self.start, other.start)
        end = min(self.end, other.end)
        return max(end - start, ZERO)


def day(date_: date, zone: tzinfo) -> Span:
    """A day of the zone, from midnight to midnight."""
    return Span(
        datetime.combine(date_, time(), zone),
        datetime.combine(date_ + timedelta(days=1), time(), zone),
    )


def dates(span: Span, zone: tzinfo) -> list[date]:
    """The dates of the zone that the span touches."""
    first = span.start.astimezone(zone).date()
    last = span.end.astimezone(zone).date()
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]
