"""HumanEvalPack: repairs of real bugs, told by the docstring or by the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Bench
from support_datasets import drafts
from support_datasets import place_drafts
from support_one_file import ADDER
from support_one_file import DATA
from support_one_file import write_rows

from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets.humanevalpack import HumanEvalPackDataset
from pytest_codegenie.errors import DatasetError


SOURCE = DATA / "humanevalpack" / "humanevalpack-python.jsonl.gz"
ROW = ADDER | {
    "task_id": "Python/0",
    "declaration": "def add(a, b):\n",
    "buggy_solution": "    return a - b\n",
    "test": "def check(add):\n    assert add(1, 2) == 3\n\ncheck(add)",
}


def start_of(draft: CaseDraft) -> str:
    data = draft.files["input/repo/solution.py"].data
    assert isinstance(data, bytes)
    return data.decode()


@pytest.mark.parametrize("told", ["docs", "tests"])
def test_every_bug_becomes_a_case(told: str) -> None:
    made = drafts(HumanEvalPackDataset(), SOURCE, told=told)
    assert [draft.case_id for draft in made] == [f"Python-{n}" for n in range(164)]
    for draft in made:
        start = start_of(draft)
        compile(start, "solution.py", "exec")
        assert draft.gold_patch
        assert ("assert " in draft.problem) >= (told == "tests")


def test_a_sample_is_mended_by_the_oracle_and_faulty_before(bench: Bench) -> None:
    """Every 55th, and one whose tests use a name of the prompt.

    All 164 run in ``tests/performance/humaneval.py``.
    """
    made = drafts(HumanEvalPackDataset(), SOURCE)
    sample = [d for n, d in enumerate(made) if n % 55 == 0 or n == 38]
    place_drafts(bench, sample)
    for draft in sample:
        assert bench.run(draft.case_id).outcome == "passed", draft.case_id
        nothing = bench.run(draft.case_id, agent="nop", judge_empty_patch=True)
        assert nothing.outcome == "failed", draft.case_id


def test_told_by_tests_the_docstring_is_hidden_and_the_tests_are_shown(
    bench: Bench, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ROW])
    (draft,) = drafts(HumanEvalPackDataset(), source, told="tests")
    assert start_of(draft) == "def add(a, b):\n    return a - b\n"
    assert "assert add(1, 2) == 3" in draft.problem
    assert "Return the sum" not in draft.problem
    place_drafts(bench, [draft])
    assert bench.run("Python-0").outcome == "passed"
    (draft,) = drafts(HumanEvalPackDataset(), source)
    assert "Return the sum" in start_of(draft)
    assert "assert" not in draft.problem


@pytest.mark.parametrize(
    ("keys", "field", "reason"),
    [
        ({"buggy_solution": None}, "buggy_solution", "must be text, is null"),
        ({"task_id": "Rust/7"}, "task_id", "is of Rust; only the Python part"),
        ({"buggy_solution": ROW["canonical_solution"]}, "", "nothing to do"),
    ],
)
def test_a_faulty_row_is_told_with_its_key(
    keys: dict[str, object], field: str, reason: str, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", [ROW | keys])
    with pytest.raises(DatasetError, match=reason) as caught:
        drafts(HumanEvalPackDataset(), source)
    assert (caught.value.place, caught.value.field) == ("rows.jsonl, line 1", field)
