"""Amounts of money, in whole cents."""

from __future__ import annotations

import re

_AMOUNT = re.compile(r"(-?)(\d+)(?:\.(\d{2}))?")


def parse_cents(text: str) -> int:
    """Return the cents of an amount like ``12``, ``12.50`` or ``-3.00``.

    Raises:
        ValueError: The text is no such amount.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an amount: {text!r}")
    sign, whole, fraction = match.groups()
    cents = int(whole) * 100 + int(fraction or 0)
    return -cents if sign else cents


def format_cents(cents: int) -> str:
    """Return an amount with two decimals, like ``1,250.00``."""
    sign = "-" if cents < 0 else ""
    whole, fraction = divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{fraction:02}"
