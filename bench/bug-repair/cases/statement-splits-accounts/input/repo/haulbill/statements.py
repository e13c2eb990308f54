"""From entries to statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from haulbill.discounts import DEFAULT_TIERS, Tier, discount_cents
from haulbill.entries import Entry


@dataclass(frozen=True, slots=True)
class Statement:
    """What an account owes for a month.

    Attributes:
        account: The customer's account.
        entries: What was charged.
        discount_cents: What goes off again.
    """

    account: str
    entries: tuple[Entry, ...]
    discount_cents: int = 0

    @property
    def charged_cents(self) -> int:
        """The sum of the lines."""
        return sum(entry.cents for entry in self.entries)

    @property
    def total_cents(self) -> int:
        """What is to be paid."""
        return self.charged_cents - self.discount_cents

    def cents_by_kind(self) -> dict[str, int]:
        """Return the breakdown: what was charged for each kind."""
        return {
            kind: sum(entry.cents for entry in group)
            for kind, group in groupby(self.entries, key=attrgetter("kind"))
        }


def make_statement(
    account: str, entries: Iterable[Entry], tiers: Sequence[Tier]
) -> Statement:
    """Return the statement of one account."""
    lines = tuple(entries)
    charged = sum(entry.cents for entry in lines)
    return Statement(account, lines, discount_cents(charged, tiers))


def make_statements(
    entries: Iterable[Entry], tiers: Sequence[Tier] = DEFAULT_TIERS
) -> list[Statement]:
    """Return the statements of a month's entries."""
    return [
        make_statement(account, group, tiers)
        for account, group in groupby(entries, key=attrgetter("account"))
    ]
