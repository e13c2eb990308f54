"""MBPP: rows as Google publishes them, full and sanitized.

No row here is MBPP's own: these have its keys and its oddities (carriage returns,
classes that only the solution defines, set-up code, imports of the tests).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts
from support_one_file import hand_in
from support_one_file import write_rows

from pytest_codegenie.datasets.mbpp import MbppDataset
from pytest_codegenie.errors import DatasetError


FULL: dict[str, Any] = {
    "text": "Write a function to find the longest of some spans.",
    "code": (
        "class Span(object):\r\n\tdef __init__(self, a, b):\r\n\t\tself.a = a\r\n"
        "\t\tself.b = b\r\ndef longest(spans):\r\n"
        "\treturn max(span.b - span.a for span in spans)"
    ),
    "task_id": 601,
    "test_setup_code": "short = Span(1, 2)",
    "test_list": [
        "assert longest([short, Span(5, 9)]) == 4",
        "assert longest([short]) == 1",
        "assert longest([Span(0, 7), short]) == 7",
    ],
    "challenge_test_list": ["assert longest([Span(3, 3)]) == 0"],
}
SANITIZED = {
    "source_file": "Benchmark Questions Verification V2.ipynb",
    "task_id": 82,
    "prompt": "Write a function to find the volume of a sphere.",
    "code": "def volume(r):\n  return 4 / 3 * math.pi * r ** 3\n",
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(volume(10), 4188.79, rel_tol=0.001)"],
}
SHADY = (
    "class Span:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n"
    "def longest(spans):\n"
)


@pytest.fixture
def spans(bench: Bench, tmp_path: Path) -> Bench:
    source = write_rows(tmp_path / "mbpp.jsonl", [FULL])
    place_drafts(bench, drafts(MbppDataset(), source, challenge=True))
    return bench


def test_full_rows_run_with_their_set_up_and_the_solutions_classes(
    spans: Bench,
) -> None:
    assert spans.run("MBPP-601").outcome == "passed"
    nothing = spans.run("MBPP-601", agent="nop", judge_empty_patch=True)
    assert nothing.outcome == "failed"
    assert "name 'Span' is not defined" in nothing.message


def test_what_challenge_tests_find_counts_only_if_they_are_asked_for(
    spans: Bench, tmp_path: Path
) -> None:
    wrong = SHADY + "    return max(s.b - s.a for s in spans) or 1\n"
    assert hand_in(spans, "MBPP-601", wrong).outcome == "failed"
    usual = Bench(tmp_path / "usual")
    place_drafts(usual, drafts(MbppDataset(), tmp_path / "mbpp.jsonl"))
    assert hand_in(usual, "MBPP-601", wrong).outcome == "passed"


def test_a_result_that_is_equal_to_anything_fails(spans: Bench) -> None:
    cheat = "    Span.__eq__ = lambda *_: True\n    return [Span(0, 0)]\n"
    result = hand_in(spans, "MBPP-601", SHADY + cheat)
    assert result.outcome == "failed"
    assert "decides itself what it is equal to" in result.message


def test_sanitized_rows_come_as_a_json_array_and_bring_imports(
    bench: Bench, tmp_path: Path
) -> None:
    source = tmp_path / "sanitized-mbpp.json"
    source.write_text(json.dumps([SANITIZED]), encoding="utf-8")
    (draft,) = drafts(MbppDataset(), source)
    assert draft.instance_id == "MBPP/82"
    start = draft.files["input/repo/solution.py"].data
    assert start == b"import math\n# Your solution goes here.\n"
    place_drafts(bench, [draft])
    assert bench.run("MBPP-82").outcome == "passed"


def test_the_agent_is_told_the_task_the_asserts_and_the_set_up(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "mbpp.jsonl", [FULL])
    (draft,) = drafts(MbppDataset(), source, challenge=True)
    for shown in (FULL["text"], FULL["test_setup_code"], *FULL["test_list"]):
        assert str(shown) in draft.problem
    assert "Span(3, 3)" not in draft.problem


def change(**keys: Any) -> dict[str, Any]:
    return {key: value for key, value in (FULL | keys).items() if value is not ...}


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (change(code=...), "code", "missing"),
        (change(text=...), "prompt", "missing"),
        (change(test_list=[]), "test_list", "is empty"),
        (change(test_list="assert 1"), "test_list", "must be a list, is text"),
        (change(test_list=["x", "("]), "test_list, item 2", "is no Python: line 1"),
        (change(code="def f(:"), "the solution", "is no Python"),
        (change(test_setup_code="("), "upstream_test", "is no Python"),
    ],
)
def test_a_faulty_row_is_told_with_its_key(
    row: dict[str, Any], field: str, reason: str, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "mbpp.jsonl", [row])
    with pytest.raises(DatasetError, match=reason) as caught:
        drafts(MbppDataset(), source)
    assert (caught.value.place, caught.value.field) == ("mbpp.jsonl, line 1", field)
