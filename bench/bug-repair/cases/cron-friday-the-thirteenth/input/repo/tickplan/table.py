"""Job tables: an expression, options and a name in each line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from tickplan.errors import ExpressionError, TableError
from tickplan.expression import CronExpression
from tickplan.fields import WEEKDAY, Field, parse_field


@dataclass(frozen=True, slots=True)
class Job:
    """A job and when it runs."""

    name: str
    expression: CronExpression
    only: Field | None = None
    until: date | None = None

    def next_after(self, moment: datetime) -> datetime | None:
        """The first run later than ``moment``, or ``None`` if there is none."""
        run = self.expression.next_after(moment)
        while run is not None and not self._allowed(run.date()):
            if self.until is not None and run.date() > self.until:
                return None
            run = self.expression.next_after(run)
        return run

    def _allowed(self, day: date) -> bool:
        if self.until is not None and day > self.until:
            return False
        return self.only is None or day.isoweekday() % 7 in self.only


def read_table(text: str) -> list[Job]:
    """The jobs of a table, in order.

    Raises:
        TableError: A line is no job.
    """
    jobs = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            try:
                jobs.append(_job(words))
            except ValueError as exc:
                raise TableError(number, str(exc)) from exc
    return jobs


def _job(words: list[str]) -> Job:
    expression = CronExpression.parse(" ".join(words[:5]))
    *options, name = words[5:] or [""]
    if not name or "=" in name:
        raise ExpressionError("the name of the job is missing")
    only: Field | None = None
    until: date | None = None
    for option in options:
        match option.partition("="):
            case ("only", "=", value):
                only = parse_field(value, WEEKDAY)
            case ("until", "=", value):
                until = date.fromisoformat(value)
            case _:
                raise ExpressionError(f"{option!r} is not an option")
    return Job(name, expression, only, until)
