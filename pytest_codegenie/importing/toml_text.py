"""TOML of a case's tables, quickly: what ``tomli_w`` writes, byte for byte.

Digests of cases are of these bytes. ``tomli_w`` looks at each character of each test's
id in Python, which was half of the time that a row of SWE-bench took.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

import tomli_w


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile(r'["\\\x00-\x08\x0a-\x1f\x7f]')
_SCALARS = (str, int, float, dt.date)


def toml_of(table: Mapping[str, Any]) -> str:
    """Return a table as TOML.

    Args:
        table: Of texts, numbers, dates, lists of texts and tables of such; any other is
            left to ``tomli_w``.
    """
    tables = {key: one for key, one in table.items() if isinstance(one, dict)}
    values = {key: one for key, one in table.items() if key not in tables}
    if not all(map(_is_flat, (values, *tables.values()))):
        return tomli_w.dumps(table)
    parts = [_lines(values)] if values else []
    parts += [f"[{_key(name)}]\n{_lines(one)}" for name, one in tables.items()]
    return "\n".join(parts)


def _is_flat(table: Mapping[str, Any]) -> bool:
    return all(
        isinstance(value, _SCALARS)
        or (isinstance(value, list) and all(isinstance(one, str) for one in value))
        for value in table.values()
    )


def _lines(table: Mapping[str, Any]) -> str:
    return "".join([f"{_key(key)} = {_value(one)}\n" for key, one in table.items()])


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if type(value) is str and not _ESCAPED.search(value):
        return f'"{value}"'
    if isinstance(value, list) and value:
        return "[\n" + "".join([f"    {_value(one)},\n" for one in value]) + "]"
    return tomli_w.dumps({"_": value})[len("_ = ") : -1]
