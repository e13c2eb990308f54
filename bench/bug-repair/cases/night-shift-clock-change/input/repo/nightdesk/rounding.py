"""Rounding of what the time clock says."""

from __future__ import annotations

from datetime import datetime, timedelta


def nearest(moment: datetime, minutes: int = 5) -> datetime:
    """The nearest full step of ``minutes``; from the middle on it is the later one.

    Raises:
        ValueError: The steps do not divide an hour.
    """
    if minutes < 1 or 60 % minutes:
        raise ValueError(f"an hour cannot be divided into steps of {minutes} minutes")
    step = timedelta(minutes=minutes)
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour + step * ((moment - hour + step / 2) // step)
