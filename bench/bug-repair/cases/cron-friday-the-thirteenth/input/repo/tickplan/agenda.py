"""What runs in a period."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tickplan.table import Job


@dataclass(frozen=True, order=True, slots=True)
class Run:
    """One run of a job."""

    at: datetime
    job: str

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}  {self.job}"


def agenda(jobs: Iterable[Job], start: datetime, days: int) -> list[Run]:
    """All runs from ``start`` on, for so many days, by time and then by name."""
    end = start + timedelta(days=days)
    runs = []
    for job in jobs:
        at = job.next_after(start - timedelta(minutes=1))
        while at is not None and at < end:
            runs.append(Run(at, job.name))
            at = job.next_after(at)
    return sorted(runs)
