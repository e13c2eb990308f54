"""Reading what agents print and write: JSON that may be cut off, or be anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any


#: What matters for where a JSON text may be cut: whole strings, brackets and commas.
_JSON_MARK = re.compile(r'"[^"\\]*(?:\\.?[^"\\]*)*(?:"|\Z)|[][{},]', re.DOTALL)

#: Records do not nest so deep, and what handles deeper values runs out of stack.
_MAX_DEPTH = 100
#: Where counts and amounts end; nobody means more.
_ENDLESS = 1e18
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def json_lines(text: str | bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines text; other lines are left out."""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    for line in text.split("\n"):
        if line.lstrip()[:1] == "{":
            value = read_json(line)
            if isinstance(value, dict):
                yield value


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; None for what is none, or nests too deep.

    Half a character (a lone surrogate), which no file can hold, is replaced.
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if text.count("{") + text.count("[") > _MAX_DEPTH and _depth(value) > _MAX_DEPTH:
        return None
    return _whole_characters(value) if _HALF_CHARACTER.search(text) else value


def _depth(value: Any) -> int:
    """Return how deep a value nests, as far as it matters."""
    depth, level = 0, [value]
    while level and depth <= _MAX_DEPTH:
        level = [
            item
            for one in level
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1
    return depth


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {
            _whole_characters(key): _whole_characters(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    return value


def last_json(text: str) -> Any:
    """Return the JSON value that a text ends with, whatever stands before it.

    It has to begin at the beginning of a line. None where there is no such value.
    """
    lines = text.rstrip().split("\n")
    for start in range(len(lines) - 1, -1, -1):
        if lines[start][:1] in "[{":
            value = read_json("\n".join(lines[start:]))
            if value is not None:
                return value
    return None


def read_cut_json(text: str | bytes) -> Any:
    """Return the value of a JSON text that may have been cut off, as far as it goes.

    What is not whole at the end is left out. None where nothing is left.
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    whole = read_json(text)
    return _up_to_the_cut(text) if whole is None else whole


def _up_to_the_cut(text: str) -> Any:
    open_now = ""
    #: Up to where it is whole, and what is open there.
    place, still_open = 0, ""
    for mark in _JSON_MARK.finditer(text):
        sign = mark[0][:1]
        if sign in "[{":
            open_now += sign
        elif sign == ",":
            place, still_open = mark.start(), open_now
        elif sign in "]}":
            open_now = open_now[:-1]
            place, still_open = mark.end(), open_now
    closing = still_open[::-1].translate({ord("["): "]", ord("{"): "}"})
    return read_json(text[:place] + closing)


def at(value: Any, *keys: str | int) -> Any:
    """Return what lies deeper in JSON values; None where there is no such place."""
    for key in keys:
        if isinstance(value, Mapping) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def text_at(value: Any, *keys: str | int) -> str | None:
    """Return the string at a place; None for anything else."""
    found = at(value, *keys)
    return found if isinstance(found, str) else None


def count_at(value: Any, *keys: str | int) -> int | None:
    """Return the count at a place; None for what is no whole number from 0 on."""
    found = at(value, *keys)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return int(found) if 0 <= found < _ENDLESS and found == int(found) else None


def amount_at(value: Any, *keys: str | int) -> float | None:
    """Return the finite amount at a place; None for what is no number from 0 on."""
    found = at(value, *keys)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found < _ENDLESS else None


def total(amounts: Iterable[Any]) -> Any:
    """Return the sum of those that are known; None where none is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def plain(content: Any) -> str:
    """Return the text of a message's content, as all providers' dialects have it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [plain(part) for part in content]
        return "\n".join(part for part in parts if part)
    if isinstance(content, Mapping):
        for key in ("text", "content", "output", "thinking"):
            if key in content:
                return plain(content[key])
    return "" if content is None else json.dumps(content, ensure_ascii=False)
