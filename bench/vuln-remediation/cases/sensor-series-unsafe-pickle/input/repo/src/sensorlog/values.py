"""The types of values that notes and labels may have."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

from sensorlog.errors import UnsupportedValue

PLAIN_TYPES = frozenset(
    {type(None), bool, int, float, str, bytes, Decimal, UUID}
    | {date, datetime, timedelta, timezone}
)
COLLECTION_TYPES = frozenset({list, tuple, set, frozenset})


def check_mapping(mapping: dict[str, Any], where: str) -> None:
    """Check notes or labels.

    Raises:
        UnsupportedValue: The format does not have the type of a value in it; the
            message says where the value is.
    """
    for key, value in mapping.items():
        if type(key) is not str:
            raise UnsupportedValue(f"{where}: the key {key!r} is not text")
        check_value(value, f"{where}[{key!r}]")


def check_value(value: Any, where: str) -> None:
    if type(value) in PLAIN_TYPES:
        return
    if type(value) in COLLECTION_TYPES:
        for item in value:
            check_value(item, where)
    elif type(value) is dict:
        for key, item in value.items():
            check_value(key, where)
            check_value(item, f"{where}[{key!r}]")
    else:
        raise UnsupportedValue(f"{where} is of type {type(value).__qualname__}")
