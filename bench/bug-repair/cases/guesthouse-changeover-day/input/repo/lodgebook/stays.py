"""A stay: the days somebody spends in the house."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True, order=True, slots=True)
class Stay:
    """From the day of arrival to the day of departure."""

    arrival: date
    departure: date

    def __post_init__(self) -> None:
        if self.departure <= self.arrival:
            raise ValueError(
                f"a stay is at least one night: {self.arrival} to {self.departure}"
            )

    @property
    def nights(self) -> int:
        """How many nights are sold."""
        return (self.departure - self.arrival).days

    def each_night(self) -> Iterator[date]:
        """The nights, each named by the day on which it begins."""
        for offset in range(self.nights):
            yield self.arrival + timedelta(days=offset)

    def overlaps(self, other: Stay) -> bool:
        """Whether the two stays cannot share a room."""
        return self.arrival <= other.departure and other.arrival <= self.departure

    def longer_by(self, nights: int) -> Stay:
        """The same stay with its departure moved by ``nights``."""
        return Stay(self.arrival, self.departure + timedelta(days=nights))

    def __str__(self) -> str:
        return f"from {self.arrival} to {self.departure}"
