"""Read, filter and write logfmt lines."""

from logsift.errors import ParseError
from logsift.filters import Condition, matches
from logsift.reader import parse_line, read_records
from logsift.writer import format_record

__all__ = [
    "Condition",
    "ParseError",
    "format_record",
    "matches",
    "parse_line",
    "read_records",
]
