"""Months."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from haulbill.entries import Entry


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a year."""

    year: int
    month: int

    @classmethod
    def parse(cls, text: str) -> Month:
        """Return the month written as ``2026-03``."""
        first = date.fromisoformat(f"{text}-01")
        return cls(first.year, first.month)

    def __contains__(self, day: date) -> bool:
        return (day.year, day.month) == (self.year, self.month)

    def entries(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries of this month, in their order."""
        return (entry for entry in entries if entry.day in self)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"
