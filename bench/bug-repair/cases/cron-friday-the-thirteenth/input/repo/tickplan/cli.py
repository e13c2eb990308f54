"""The command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tickplan.agenda import agenda
from tickplan.errors import TableError
from tickplan.table import read_table


def main(argv: Sequence[str] | None = None) -> int:
    """Print the agenda of a table; 2 where it cannot be read."""
    args = _parser().parse_args(argv)
    try:
        jobs = read_table(args.table.read_text(encoding="utf-8"))
    except (OSError, TableError) as exc:
        print(f"tickplan: {args.table}: {exc}", file=sys.stderr)
        return 2
    for run in agenda(jobs, args.start, args.days):
        print(run)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tickplan", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("agenda", help="print what runs in a period")
    command.add_argument("table", type=Path)
    command.add_argument(
        "--from", dest="start", type=datetime.fromisoformat, required=True
    )
    command.add_argument("--days", type=int, default=7)
    return parser
