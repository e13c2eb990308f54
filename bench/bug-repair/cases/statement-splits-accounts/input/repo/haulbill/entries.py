"""The ledger: what was charged to whom."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from haulbill.money import parse_cents


class LedgerError(ValueError):
    """A line of a ledger file that is no entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A charge.

    Attributes:
        account: The customer's account.
        day: The day of the consignment.
        reference: The number of the consignment.
        kind: What is charged for: ``freight``, ``fuel`` and the like.
        cents: The amount; negative for a credit.
    """

    account: str
    day: date
    reference: str
    kind: str
    cents: int


def read_ledger(lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a ledger file, in its order.

    Raises:
        LedgerError: A line is no entry.
    """
    for number, row in enumerate(csv.reader(lines), start=1):
        if not row:
            continue
        try:
            account, day, reference, kind, amount = (field.strip() for field in row)
            yield Entry(
                account, date.fromisoformat(day), reference, kind, parse_cents(amount)
            )
        except ValueError as exc:
            raise LedgerError(f"ledger line {number}: {exc}") from exc
