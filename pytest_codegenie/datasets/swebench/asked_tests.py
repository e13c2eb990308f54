"""The lists of tests of a row, and what in them is no test."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import check_text
from pytest_codegenie.datasets.rows import type_name
from pytest_codegenie.datasets.rows import value_of
from pytest_codegenie.errors import DatasetError


#: Pytest's progress, which SWE-bench's parsers took for tests: ``[100%]``, ``[``.
_PROGRESS = re.compile(r"\[( *\d+%\].*)?")


@dataclass(frozen=True, slots=True)
class TestsList:
    """What is asked for by a key of a row."""

    #: Ids, each once.
    tests: tuple[str, ...]
    #: What was in the list and is no test.
    dropped: tuple[str, ...]


def tests_of(row: Row, key: str) -> TestsList:
    """Return the tests of a key.

    The list is one, or JSON or Python in a string, or the keys of an object.

    Raises:
        DatasetError: It is missing, or is no list of texts.
    """
    value = value_of(row, key)
    given = list(dict.fromkeys(_texts(row, key, _read(row, key, value))))
    tests = tuple(test for test in given if test and not _PROGRESS.fullmatch(test))
    kept = frozenset(tests)
    return TestsList(tests, tuple(test for test in given if test not in kept))


def _read(row: Row, key: str, value: Any) -> Any:
    """Return what is in a string, where it is one."""
    if not isinstance(value, str):
        return [] if value is None else value
    if not value.strip():
        return []
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as exc:
        fault = exc
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise DatasetError(
            row.place,
            key,
            f"is text, but no list in JSON ({fault}) nor in Python: {value!r:.60}",
        ) from None


def _texts(row: Row, key: str, value: Any) -> Iterable[str]:
    if not isinstance(value, list | tuple | dict):
        raise DatasetError(
            row.place, key, f"must be a list of test ids, is {type_name(value)}"
        )
    for number, test in enumerate(value, 1):
        if not isinstance(test, str):
            raise DatasetError(
                row.place,
                key,
                f"must be a list of test ids; item {number} is {type_name(test)}",
            )
        check_text(row, key, test)
        yield test
