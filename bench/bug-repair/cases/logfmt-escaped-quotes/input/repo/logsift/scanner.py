"""Splits a line into fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logsift.errors import ParseError

QUOTE = '"'


@dataclass(frozen=True, slots=True)
class Field:
    """A field as it stands in the line.

    Attributes:
        key: The key.
        raw: The value, escapes and all but without its quotation marks.
            ``None`` where the field is only a key.
        quoted: Whether there were quotation marks.
    """

    key: str
    raw: str | None = None
    quoted: bool = False


class Scanner:
    """Goes through a line from left to right, once."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0

    def fields(self) -> Iterator[Field]:
        """Yield the fields of the line.

        Raises:
            ParseError: The line is not logfmt.
        """
        while self._skip_white_space():
            yield self._field()

    def _skip_white_space(self) -> bool:
        """Go to the next field; return whether there is one."""
        while self._at < len(self._line) and self._line[self._at].isspace():
            self._at += 1
        return self._at < len(self._line)

    def _field(self) -> Field:
        start = self._at
        key = self._take_until("=")
        if not key:
            raise ParseError("a field without a key", start + 1)
        if not self._looking_at("="):
            return Field(key)
        self._at += 1
        if self._looking_at(QUOTE):
            return Field(key, self._quoted_value(), quoted=True)
        return Field(key, self._take_until())

    def _looking_at(self, character: str) -> bool:
        return self._line.startswith(character, self._at)

    def _take_until(self, stops: str = "") -> str:
        """Take what comes before white space or one of ``stops``."""
        start = self._at
        while self._at < len(self._line):
            character = self._line[self._at]
            if character.isspace() or character in stops:
                break
            self._at += 1
        return self._line[start : self._at]

    def _quoted_value(self) -> str:
        """Take a quoted value with both its quotation marks."""
        start = self._at + 1
        end = self._line.find(QUOTE, start)
        if end < 0:
            raise ParseError("unterminated quoted value", start)
        self._at = end + 1
        return self._line[start:end]
