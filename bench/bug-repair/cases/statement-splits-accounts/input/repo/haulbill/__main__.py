"""The command: print the statements of a month."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from haulbill.entries import read_ledger
from haulbill.periods import Month
from haulbill.rendering import render_statement
from haulbill.statements import make_statements


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="haulbill")
    parser.add_argument("ledger", help="the ledger file (CSV)")
    parser.add_argument("--month", type=Month.parse, required=True, metavar="YYYY-MM")
    arguments = parser.parse_args(argv)
    with open(arguments.ledger, encoding="utf-8", newline="") as lines:
        entries = arguments.month.entries(read_ledger(lines))
        statements = make_statements(entries)
    for statement in statements:
        print(render_statement(statement, arguments.month), end="\n\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
