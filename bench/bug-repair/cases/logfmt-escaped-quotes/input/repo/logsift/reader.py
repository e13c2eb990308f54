"""From lines to records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logsift.errors import ParseError
from logsift.escapes import unescape
from logsift.scanner import Field, Scanner

Value = str | bool
Record = dict[str, Value]


def value_of(field: Field) -> Value:
    """Return the value that a field stands for."""
    if field.raw is None:
        return True
    return unescape(field.raw) if field.quoted else field.raw


def parse_line(line: str) -> Record:
    """Return the record of a line.

    Raises:
        ParseError: The line is not logfmt.
    """
    return {field.key: value_of(field) for field in Scanner(line).fields()}


def read_records(lines: Iterable[str], *, strict: bool = False) -> Iterator[Record]:
    """Yield the records of ``lines``, without the empty ones.

    Raises:
        ParseError: ``strict`` is set and a line is not logfmt; otherwise such
            a line is left out.
    """
    for line in lines:
        try:
            record = parse_line(line)
        except ParseError:
            if strict:
                raise
            continue
        if record:
            yield record
