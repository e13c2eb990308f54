"""One row of a dataset, and what a format takes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean


_SHOWN_KEYS = 20
_TYPE_NAMES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a dataset."""

    #: Where a person finds it: ``rows.jsonl, line 12``.
    place: str
    data: dict[str, Any]
    #: What it is called in a file that maps names to rows; "" elsewhere.
    key: str = ""


def value_of(row: Row, key: str) -> Any:
    """Return the value of a key, whatever it is.

    Raises:
        DatasetError: The row has no such key.
    """
    if key not in row.data:
        names = [str(name) for name in row.data]
        more = " ..." if len(names) > _SHOWN_KEYS else ""
        there = ", ".join(names[:_SHOWN_KEYS]) + more if names else "nothing"
        raise DatasetError(
            row.place,
            key,
            f"missing{did_you_mean(key, names)}; the row has: {there}",
        )
    return row.data[key]


def text_of(row: Row, key: str, default: str | None = None) -> str:
    """Return the text of a key.

    Args:
        row: The row.
        key: Its key.
        default: What stands for a key that is missing or null; None: it may not be.

    Raises:
        DatasetError: It is missing or is no text.
    """
    if default is not None and row.data.get(key) is None:
        return default
    value = value_of(row, key)
    if not isinstance(value, str):
        raise DatasetError(row.place, key, f"must be text, is {type_name(value)}")
    check_text(row, key, value)
    return value


def texts_of(row: Row, key: str, default: tuple[str, ...] | None = None) -> list[str]:
    """Return the texts of a key that holds a list of them.

    Args:
        row: The row.
        key: Its key.
        default: What stands for a key that is missing or null; None: it may not be.

    Raises:
        DatasetError: It is missing, or is no list of texts.
    """
    if default is not None and row.data.get(key) is None:
        return list(default)
    value = value_of(row, key)
    if not isinstance(value, list):
        raise DatasetError(row.place, key, f"must be a list, is {type_name(value)}")
    for number, item in enumerate(value, 1):
        if not isinstance(item, str):
            raise DatasetError(
                row.place,
                key,
                f"must be a list of texts; item {number} is {type_name(item)}",
            )
        check_text(row, key, item)
    return value


def check_text(row: Row, key: str, text: str) -> None:
    r"""Refuse what no file can hold as UTF-8: JSON's ``"\ud800"`` alone.

    Raises:
        DatasetError: The text has half of a surrogate pair.
    """
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        half = f"\\u{ord(text[exc.start]):04x}"
        raise DatasetError(
            row.place,
            key,
            f"holds {half} alone, half of a surrogate pair, which is no character; "
            "mend the row",
        ) from None


def type_name(value: object) -> str:
    """Return what a value is, as JSON calls it: ``a list``."""
    return _TYPE_NAMES.get(type(value), f"a {type(value).__name__}")
