"""The fields of an expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tickplan.errors import ExpressionError

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_WEEKDAYS = "sun mon tue wed thu fri sat".split()


@dataclass(frozen=True, slots=True)
class Kind:
    """What a field may hold."""

    name: str
    low: int
    high: int
    names: Mapping[str, int]

    def value(self, text: str) -> int:
        """A number or a name."""
        number = self.names.get(text.lower())
        if number is None:
            if not text.isdecimal():
                raise ExpressionError(f"{self.name}: {text!r} is not a value")
            number = int(text)
        if not self.low <= number <= self.high:
            raise ExpressionError(
                f"{self.name}: {number} is not from {self.low} to {self.high}"
            )
        return number


MINUTE = Kind("minute", 0, 59, {})
HOUR = Kind("hour", 0, 23, {})
DAY = Kind("day-of-month", 1, 31, {})
MONTH = Kind("month", 1, 12, {name: n for n, name in enumerate(_MONTHS, start=1)})
WEEKDAY = Kind("day-of-week", 0, 7, {name: n for n, name in enumerate(_WEEKDAYS)})


@dataclass(frozen=True, slots=True)
class Field:
    """The values that a field allows; ``starred`` where it starts with ``*``."""

    values: frozenset[int]
    starred: bool

    def __contains__(self, value: int) -> bool:
        return value in self.values


def parse_field(text: str, kind: Kind) -> Field:
    """Read a field.

    Raises:
        ExpressionError: It is not a list of values, ranges and steps.
    """
    values: set[int] = set()
    for part in text.split(","):
        values.update(_part(part, kind))
    if kind is WEEKDAY and 7 in values:
        values = (values - {7}) | {0}
    return Field(frozenset(values), text.startswith("*"))


def _part(text: str, kind: Kind) -> range:
    base, slash, step = text.partition("/")
    if slash and (not step.isdecimal() or int(step) < 1):
        raise ExpressionError(f"{kind.name}: {step!r} is not a step")
    if base == "*":
        first, last = kind.low, kind.high
    else:
        low, dash, high = base.partition("-")
        first = kind.value(low)
        last = kind.value(high) if dash else first
        if slash and not dash:
            raise ExpressionError(f"{kind.name}: a step needs a range or a star")
        if last < first:
            raise ExpressionError(f"{kind.name}: the range {base!r} runs backwards")
    return range(first, last + 1, int(step) if slash else 1)
