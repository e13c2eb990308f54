"""Reading what agents print and write, whole or not."""

from __future__ import annotations

import json

import pytest

from pytest_codegenie.agents.records import read_cut_json


VALUE: dict[str, object] = {"a": [1, {"b": 'x"}],['}, "t\\"], "c": {"d": []}, "e": None}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_that_is_cut_gives_what_came_before(indent: int | None) -> None:
    """What is there never changes as more of it comes, and the end is all of it."""
    text = json.dumps(VALUE, indent=indent)
    seen = [read_cut_json(text[:length]) for length in range(len(text) + 1)]
    assert seen[0] is None
    assert seen[-1] == VALUE
    kinds: list[object] = []
    for value in seen:
        if value not in kinds:
            kinds.append(value)
    assert kinds == [
        None,
        {"a": [1]},
        {"a": [1, {"b": 'x"}],['}]},
        {"a": [1, {"b": 'x"}],['}, "t\\"]},
        {"a": VALUE["a"], "c": {"d": []}},
        VALUE,
    ]


@pytest.mark.parametrize(
    "text", ["", "]]]{{", "{]", "[" * 100_000, "\x00", '"half', b"\xff{", "nothing, at"]
)
def test_what_is_no_document_gives_nothing(text: str | bytes) -> None:
    assert read_cut_json(text) is None


def test_a_string_that_is_cut_after_a_backslash_hides_its_commas() -> None:
    assert read_cut_json('{"a": 1, "b": "x, y\\') == {"a": 1}
