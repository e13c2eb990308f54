"""Statements as text."""

from __future__ import annotations

from haulbill.money import format_cents
from haulbill.periods import Month
from haulbill.statements import Statement

WIDTH = 48


def amount_line(label: str, cents: int) -> str:
    """Return a line with a label on the left and an amount on the right."""
    amount = format_cents(cents)
    return f"{label:<{WIDTH - len(amount)}}{amount}"


def render_statement(statement: Statement, month: Month) -> str:
    """Return the text of a statement."""
    lines = [f"Statement for {statement.account}, {month}", "=" * WIDTH]
    lines += [
        amount_line(f"{entry.day} {entry.reference} {entry.kind}", entry.cents)
        for entry in statement.entries
    ]
    lines.append("-" * WIDTH)
    lines += [
        amount_line(kind, cents) for kind, cents in statement.cents_by_kind().items()
    ]
    if statement.discount_cents:
        lines.append(amount_line("volume discount", -statement.discount_cents))
    lines += ["=" * WIDTH, amount_line("total", statement.total_cents)]
    return "\n".join(lines)
