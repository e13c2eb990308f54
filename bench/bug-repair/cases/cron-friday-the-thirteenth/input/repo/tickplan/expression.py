"""Expressions of five fields, as in crontab(5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from tickplan.errors import ExpressionError
from tickplan.fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, Field, parse_field

_KINDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)

# 29 February can be eight years away: 1896 and 1904, 2096 and 2104.
_HORIZON_DAYS = 8 * 366


@dataclass(frozen=True, slots=True)
class CronExpression:
    """When a job runs, to the minute."""

    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field

    @classmethod
    def parse(cls, text: str) -> CronExpression:
        """Read the five fields.

        Raises:
            ExpressionError: There are not five, or one of them cannot be read.
        """
        texts = text.split()
        if len(texts) != len(_KINDS):
            raise ExpressionError(f"expected five fields, not {len(texts)}: {text!r}")
        return cls(*map(parse_field, texts, _KINDS))

    def matches(self, moment: datetime) -> bool:
        """Whether the job runs in the minute of ``moment``."""
        return (
            moment.minute in self.minute
            and moment.hour in self.hour
            and self.matches_day(moment.date())
        )

    def matches_day(self, day: date) -> bool:
        """Whether the job runs on the day at all."""
        if day.month not in self.month:
            return False
        by_date = day.day in self.day
        by_weekday = day.isoweekday() % 7 in self.weekday
        if self.day.starred or self.weekday.starred:
            return by_date and by_weekday
        return by_date or by_weekday

    def next_after(self, moment: datetime) -> datetime | None:
        """The first run later than ``moment``, or ``None`` if there is none."""
        for offset in range(_HORIZON_DAYS + 1):
            day = moment.date() + timedelta(days=offset)
            if self.matches_day(day):
                for at in self._times():
                    run = datetime.combine(day, at, moment.tzinfo)
                    if run > moment:
                        return run
        return None

    def _times(self) -> Iterator[time]:
        """The times of a day, in order."""
        for hour in sorted(self.hour.values):
            for minute in sorted(self.minute.values):
                yield time(hour, minute)
