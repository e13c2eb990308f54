"""Nightly rates by season."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from lodgebook.stays import Stay


@dataclass(frozen=True, slots=True)
class Season:
    """A rate for the nights from ``first`` to ``last``, both included."""

    name: str
    first: date
    last: date
    rate: Decimal

    def covers(self, night: date) -> bool:
        """Whether the night is sold at this season's rate."""
        return self.first <= night <= self.last


@dataclass(frozen=True, slots=True)
class Tariff:
    """The seasons, and the rate of every other night."""

    base_rate: Decimal
    seasons: Sequence[Season] = ()

    def rate(self, night: date) -> Decimal:
        """The rate of one night; the first season that covers it decides."""
        for season in self.seasons:
            if season.covers(night):
                return season.rate
        return self.base_rate

    def price(self, stay: Stay) -> Decimal:
        """What the whole stay costs."""
        return sum((self.rate(night) for night in stay.each_night()), Decimal(0))
