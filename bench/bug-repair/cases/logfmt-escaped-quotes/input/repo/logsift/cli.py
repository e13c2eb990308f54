"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from logsift.filters import Condition, matches
from logsift.reader import read_records
from logsift.writer import format_record


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="logsift")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        type=Condition.parse,
        metavar="KEY=VALUE",
        help="only records with this value (KEY!=VALUE: with another or none)",
    )
    parser.add_argument("--fields", help="only these fields, separated by commas")
    parser.add_argument("file", nargs="?", help="default: standard input")
    return parser


def sift(
    lines: TextIO, conditions: Sequence[Condition], fields: str | None, out: TextIO
) -> None:
    """Write the records that meet the conditions."""
    keys = fields.split(",") if fields else None
    for record in read_records(lines):
        if not matches(record, conditions):
            continue
        if keys is not None:
            record = {key: record[key] for key in keys if key in record}
        print(format_record(record), file=out)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    arguments = build_parser().parse_args(argv)
    if arguments.file is None:
        sift(sys.stdin, arguments.where, arguments.fields, sys.stdout)
        return 0
    with open(arguments.file, encoding="utf-8") as lines:
        sift(lines, arguments.where, arguments.fields, sys.stdout)
    return 0
