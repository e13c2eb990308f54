"""Records that no agent writes by itself: what reads them stays whole."""

from __future__ import annotations

import pytest

from pytest_codegenie.agents.records import amount_at
from pytest_codegenie.agents.records import count_at
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.agents.records import read_json


def test_half_characters_are_replaced_and_whole_ones_kept() -> None:
    r"""``JSON.stringify`` writes ``\ud83d`` where a text was cut within an emoji."""
    text = r'{"a": ["\ud83d\ude00", "cut \ud83d"], "\ude00": 1}'
    assert read_json(text) == {"a": ["\U0001f600", "cut \ufffd"], "\ufffd": 1}
    assert read_json(r'{"a": "\\ud83d"}') == {"a": r"\ud83d"}


@pytest.mark.parametrize(("depth", "is_read"), [(50, True), (100, True), (101, False)])
def test_what_nests_too_deep_is_no_record(depth: int, is_read: bool) -> None:
    text = "[" * depth + "]" * depth
    assert (read_json(text) is not None) == is_read


def test_many_brackets_are_not_many_levels() -> None:
    assert read_json("[" + ",".join(["[]"] * 500) + "]") == [[]] * 500


def test_a_line_that_is_cut_off_is_left_out() -> None:
    assert list(json_lines(b'{"a": 1}\nnoise\n[2]\n{"b": "\xc3')) == [{"a": 1}]


@pytest.mark.parametrize(
    ("text", "count", "amount"),
    [
        ("3", 3, 3.0),
        ("3.0", 3, 3.0),
        ("3.5", None, 3.5),
        ("-1", None, None),
        ("true", None, None),
        ('"3"', None, None),
        ("Infinity", None, None),
        ("NaN", None, None),
        ("1" + "0" * 400, None, None),
    ],
)
def test_only_numbers_that_can_be_meant_are_numbers(
    text: str, count: int | None, amount: float | None
) -> None:
    value = read_json(f'{{"a": {text}}}')
    assert count_at(value, "a") == count
    assert amount_at(value, "a") == amount
