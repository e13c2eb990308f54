"""Punches, and the shifts that they make."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from nightdesk.rounding import nearest
from nightdesk.spans import Span


class PunchError(ValueError):
    """Punches that cannot be read or do not fit together."""


@dataclass(frozen=True, slots=True)
class Punch:
    """Somebody came or went."""

    who: str
    kind: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Shift:
    """Somebody was in the house."""

    who: str
    span: Span


def read(text: str, zone: tzinfo) -> list[Punch]:
    """The punches of a file, with times of ``zone``.

    Raises:
        PunchError: A line is no punch, or its time has no offset.
    """
    punches = []
    for number, fields in enumerate(csv.reader(text.splitlines()), start=1):
        if not fields:
            continue
        try:
            who, kind, at = fields
            moment = datetime.fromisoformat(at)
        except ValueError as exc:
            raise PunchError(f"line {number}: {exc}") from exc
        if kind not in {"in", "out"} or moment.tzinfo is None:
            raise PunchError(f"line {number}: not a punch: {fields}")
        punches.append(Punch(who, kind, moment.astimezone(zone)))
    return punches


def rounded(punches: Iterable[Punch], minutes: int = 5) -> list[Punch]:
    """The same punches at full steps."""
    return [replace(punch, at=nearest(punch.at, minutes)) for punch in punches]


def pair(punches: Iterable[Punch]) -> list[Shift]:
    """The shifts, by person and start. An in and an out at one moment are dropped.

    Raises:
        PunchError: An in without out, or the other way round.
    """
    shifts = []
    came: Punch | None = None
    for punch in sorted(punches, key=lambda each: (each.who, each.at)):
        if came is not None and (punch.who != came.who or punch.kind == "in"):
            raise PunchError(f"{came.who}: in at {came.at:%Y-%m-%d %H:%M} without out")
        if punch.kind == "in":
            came = punch
            continue
        if came is None:
            at = f"{punch.at:%Y-%m-%d %H:%M}"
            raise PunchError(f"{punch.who}: out at {at} without in")
        if came.at != punch.at:
            shifts.append(Shift(punch.who, Span(came.at, punch.at)))
        came = None
    if came is not None:
        raise PunchError(f"{came.who}: in at {came.at:%Y-%m-%d %H:%M} without out")
    return shifts
