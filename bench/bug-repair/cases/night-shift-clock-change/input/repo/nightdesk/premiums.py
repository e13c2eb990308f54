"""Times of the day or week for which more is paid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

from nightdesk.spans import ZERO, Span, dates

EVERY_DAY = frozenset(range(7))
SUNDAYS = frozenset({6})


@dataclass(frozen=True, slots=True)
class Premium:
    """From one time of the day to another, on some days of the week.

    Where ``ends`` is not after ``begins`` it is meant on the next day.
    """

    name: str
    begins: time
    ends: time
    weekdays: frozenset[int] = EVERY_DAY

    def hours(self, span: Span, zone: tzinfo) -> timedelta:
        """How much of the span it applies to."""
        return sum((span.overlap(w) for w in self._windows(span, zone)), ZERO)

    def _windows(self, span: Span, zone: tzinfo) -> Iterator[Span]:
        """The times it applies to, from the evening before the span on."""
        one_day = timedelta(days=1)
        touched = dates(span, zone)
        for date_ in [touched[0] - one_day, *touched]:
            if date_.weekday() in self.weekdays:
                last = date_ if self.ends > self.begins else date_ + one_day
                yield Span(
                    datetime.combine(date_, self.begins, zone),
                    datetime.combine(last, self.ends, zone),
                )


NIGHT = Premium("night", time(22), time(6))
SUNDAY = Premium("sunday", time(), time(), SUNDAYS)
