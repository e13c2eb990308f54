"""Monthly statements for the customers of a haulage company."""

from haulbill.discounts import DEFAULT_TIERS, Tier
from haulbill.entries import Entry, LedgerError, read_ledger
from haulbill.periods import Month
from haulbill.rendering import render_statement
from haulbill.statements import Statement, make_statements

__all__ = [
    "DEFAULT_TIERS",
    "Entry",
    "LedgerError",
    "Month",
    "Statement",
    "Tier",
    "make_statements",
    "read_ledger",
    "render_statement",
]
