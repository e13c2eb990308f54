"""Records that no program would write, for what reads them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import pytest


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = {"text": [value]}
    return value


#: In place of any value of a record.
_STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    10**400,
    float("inf"),
    float("nan"),
    "",
    "\ud800",
    "9999-99-99T99:99:99Z",
    [],
    [None, 1, {"type": 7}],
    {},
    {"text": {"text": None}},
    _nested(200),
)


@pytest.fixture
def garble() -> Callable[[bytes], list[bytes]]:
    """Make bad ones of a JSON Lines text: cut, mixed, with other values, binary."""

    def make(data: bytes) -> list[bytes]:
        source = random.Random(7)
        lines = data.split(b"\n")
        source.shuffle(lines)
        return [
            *(data[: len(data) * part // 8] for part in range(8)),
            b"\n".join(lines),
            *_with_strange_values(data, source),
            b'{"a":' * 3000 + data,
            b'{"payload":[' * 3000 + b"]}" * 3000,
            source.randbytes(5000),
            b"\x00\xff\n" + data.replace(b'"', b"\x00", 9),
        ]

    return make


def _with_strange_values(data: bytes, source: random.Random) -> Iterator[bytes]:
    """Yield texts in which one key has a strange value wherever it stands."""
    values = [json.loads(line) for line in data.splitlines()]
    for key in sorted({key for value in values for key in _keys(value)}):
        for strange in source.sample(_STRANGE, 1):
            lines = [json.dumps(_with(value, key, strange)) for value in values]
            yield "\n".join(lines).encode()


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for item in _items(value):
        yield from _keys(item)


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _with(value: Any, key: str, strange: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: strange if name == key else _with(item, key, strange)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_with(item, key, strange) for item in value]
    return value
