"""The volume discount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tier:
    """A discount of ``percent`` on everything from ``from_cents`` a month."""

    from_cents: int
    percent: int


DEFAULT_TIERS = (Tier(50_000, 5), Tier(200_000, 8))


def discount_cents(charged_cents: int, tiers: Sequence[Tier] = DEFAULT_TIERS) -> int:
    """Return the discount on what an account was charged in a month.

    The highest tier that is reached counts for the whole amount. Fractions of a
    cent are dropped.
    """
    reached = [tier for tier in tiers if charged_cents >= tier.from_cents]
    if not reached:
        return 0
    best = max(reached, key=lambda tier: tier.from_cents)
    return charged_cents * best.percent // 100
