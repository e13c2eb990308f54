"""Time zones with the European rule for summer time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo

ZERO = timedelta(0)
HOUR = timedelta(hours=1)


def _last_sunday(year: int, month: int) -> datetime:
    """One o'clock on the last Sunday of a month that has 31 days."""
    last = datetime.combine(date(year, month, 31), time(1))
    return last - timedelta(days=(last.weekday() + 1) % 7)


class RuleZone(tzinfo):
    """Summer time from the last Sunday of March to that of October, at 01:00 UTC."""

    def __init__(self, name: str, summer_name: str, standard: timedelta) -> None:
        self._name = name
        self._summer_name = summer_name
        self._standard = standard

    def __repr__(self) -> str:
        return f"RuleZone({self._name!r}, {self._summer_name!r}, {self._standard!r})"

    def utcoffset(self, dt: datetime | None) -> timedelta:
        """The offset at a time of this zone."""
        return self._standard + self.dst(dt)

    def tzname(self, dt: datetime | None) -> str:
        """The abbreviation in use at that time."""
        return self._summer_name if self.dst(dt) else self._name

    def dst(self, dt: datetime | None) -> timedelta:
        """How far the clocks are ahead of standard time.

        For a time that is skipped or comes twice ``fold`` decides (PEP 495): the rule
        before the change counts with 0, the one after it with 1.
        """
        if dt is None:
            return ZERO
        wall = dt.replace(tzinfo=None)
        forward = _last_sunday(wall.year, 3) + self._standard
        back = _last_sunday(wall.year, 10) + self._standard
        if forward <= wall < forward + HOUR:
            return HOUR if dt.fold else ZERO
        if back <= wall < back + HOUR:
            return ZERO if dt.fold else HOUR
        return HOUR if forward <= wall < back else ZERO

    def fromutc(self, dt: datetime) -> datetime:
        """The time of this zone at a moment that is given in UTC."""
        utc = dt.replace(tzinfo=None)
        forward, back = _last_sunday(utc.year, 3), _last_sunday(utc.year, 10)
        ahead = HOUR if forward <= utc < back else ZERO
        wall = utc + self._standard + ahead
        return wall.replace(tzinfo=self, fold=int(back <= utc < back + HOUR))


WESTERN_EUROPE = RuleZone("WET", "WEST", ZERO)
CENTRAL_EUROPE = RuleZone("CET", "CEST", HOUR)
EASTERN_EUROPE = RuleZone("EET", "EEST", 2 * HOUR)
