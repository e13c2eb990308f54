"""From records to lines."""

from __future__ import annotations

from collections.abc import Mapping

from logsift.escapes import escape


def needs_quotes(value: str) -> bool:
    """Return whether a value cannot be written bare."""
    return '"' in value or any(character.isspace() for character in value)


def format_field(key: str, value: str | bool) -> str:
    """Return a field as it is written."""
    if value is True:
        return key
    if value is False:
        return f"{key}=false"
    return f'{key}="{escape(value)}"' if needs_quotes(value) else f"{key}={value}"


def format_record(record: Mapping[str, str | bool]) -> str:
    """Return the line of a record, without a line end."""
    return " ".join(format_field(key, value) for key, value in record.items())
