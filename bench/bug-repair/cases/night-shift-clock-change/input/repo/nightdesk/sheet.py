"""The timesheet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from nightdesk.premiums import NIGHT, SUNDAY, Premium
from nightdesk.punches import Shift, pair, read, rounded
from nightdesk.spans import ZERO, Span, dates, day

BREAKS = (
    (timedelta(hours=9), timedelta(minutes=45)),
    (timedelta(hours=6), timedelta(minutes=30)),
)


def break_for(worked: timedelta) -> timedelta:
    """What is taken off for breaks."""
    return next((taken for above, taken in BREAKS if worked > above), ZERO)


@dataclass(frozen=True, slots=True)
class Row:
    """One shift on the sheet."""

    who: str
    day: date
    span: Span
    worked: timedelta
    break_: timedelta
    premiums: dict[str, timedelta]

    @property
    def paid(self) -> timedelta:
        """The work without the break."""
        return self.worked - self.break_


class Timesheet:
    """The shifts of some people in one time zone."""

    def __init__(
        self,
        shifts: Iterable[Shift],
        zone: tzinfo,
        premiums: Sequence[Premium] = (NIGHT, SUNDAY),
    ) -> None:
        self._zone = zone
        self._premiums = premiums
        self.rows = [self._row(shift) for shift in shifts]

    @classmethod
    def from_punches(cls, text: str, zone: tzinfo) -> Timesheet:
        """Read, round and pair the punches of a file."""
        return cls(pair(rounded(read(text, zone))), zone)

    def by_day(self, who: str) -> dict[date, timedelta]:
        """The time in the house on each day of the zone, in order."""
        hours: dict[date, timedelta] = defaultdict(timedelta)
        for row in self.rows:
            if row.who == who:
                for date_ in dates(row.span, self._zone):
                    hours[date_] += row.span.overlap(day(date_, self._zone))
        return {date_: hours[date_] for date_ in sorted(hours) if hours[date_]}

    def paid(self, who: str) -> timedelta:
        """The paid time of one person."""
        return sum((row.paid for row in self.rows if row.who == who), ZERO)

    def as_text(self) -> str:
        """A table with hours as decimals."""
        width = max((len(row.who) for row in self.rows), default=3)
        names = "".join(f" {premium.name:>6}" for premium in self._premiums)
        head = f"{'who':<{width}}  day         from   to     worked  break   paid"
        return "\n".join([head + names, *(self._line(row, width) for row in self.rows)])

    def _row(self, shift: Shift) -> Row:
        worked = shift.span.duration
        return Row(
            who=shift.who,
            day=dates(shift.span, self._zone)[0],
            span=shift.span,
            worked=worked,
            break_=break_for(worked),
            premiums={p.name: p.hours(shift.span, self._zone) for p in self._premiums},
        )

    def _line(self, row: Row, width: int) -> str:
        start, end = (m.astimezone(self._zone) for m in (row.span.start, row.span.end))
        figures = [row.worked, row.break_, row.paid]
        hours = "".join(f" {_decimal(figure):>6}" for figure in figures)
        extra = "".join(f" {_decimal(hours):>6}" for hours in row.premiums.values())
        times = f"{row.day}  {start:%H:%M}  {end:%H:%M} "
        return f"{row.who:<{width}}  {times}{hours}{extra}"


def _decimal(duration: timedelta) -> str:
    return f"{duration / timedelta(hours=1):.2f}"
