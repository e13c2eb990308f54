"""The dates of HTTP: GMT, in whole seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime


def format_date(moment: datetime) -> str:
    """Return an HTTP date like ``Mon, 09 Mar 2026 00:00:00 GMT``.

    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone")
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def parse_date(text: str | None) -> datetime | None:
    """Return the moment of an HTTP date, ``None`` if it is none."""
    if text is None:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
