"""TOML of a case's tables: the bytes are those of ``tomli_w``."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from pytest_codegenie.importing.toml_text import toml_of


_SCALARS = (
    st.text()
    | st.integers()
    | st.booleans()
    | st.floats()
    | st.dates()
    | st.datetimes()
    | st.lists(st.text())
)
_FLAT = st.dictionaries(st.text(), _SCALARS)
#: What is left to ``tomli_w``.
_OTHERS = st.lists(st.integers() | st.lists(st.text()) | _FLAT) | st.dictionaries(
    st.text(), _FLAT
)


@given(st.dictionaries(st.text(), _SCALARS | _FLAT | _OTHERS))
def test_any_table_has_the_bytes_of_tomli_w(table: dict[str, Any]) -> None:
    assert toml_of(table) == tomli_w.dumps(table)


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"repository": {}, "environment": {"install": ["a b", 'c"']}},
        {"tests": ["t::x[\\n\t]", "t::y\x7f"], "seconds": 90.0, "ids": []},
        {"added_at": dt.date(2026, 11, 22), "a key": "ü", "": True},
    ],
)
def test_tables_of_cases(table: dict[str, Any]) -> None:
    assert toml_of(table) == tomli_w.dumps(table)


def test_plain_tables_are_not_left_to_tomli_w(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(tomli_w, "dumps")
    assert toml_of({"rule": "strict", "tests": {"pass": ["a", "b"]}}) == (
        'rule = "strict"\n\n[tests]\npass = [\n    "a",\n    "b",\n]\n'
    )
