"""What becomes of rows, good and bad, and a run of what was imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from my_dataset_plugin.dataset import QuizDataset
from my_dataset_plugin.dataset import QuizOptions

from pytest_codegenie.cli import main
from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.errors import DatasetError


def drafts(path: Path, *rows: dict[str, str]) -> list[CaseDraft]:
    """Return the drafts of rows that are written to a file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    dataset, options = QuizDataset(), QuizOptions()
    return [
        dataset.draft(instance, options)
        for instance in dataset.instances(str(path), options)
    ]


def test_a_row_becomes_a_case(tmp_path: Path) -> None:
    (draft,) = drafts(
        tmp_path / "rows.jsonl", {"id": "a/1", "question": "6 times 7?", "answer": "42"}
    )
    assert (draft.case_id, draft.instance_id) == ("a-1", "a/1")
    assert "6 times 7?" in draft.problem
    assert "42" not in draft.problem
    assert draft.gold_patch.endswith("-?\n+42\n")


def test_a_row_that_asks_for_nothing_is_refused(tmp_path: Path) -> None:
    row = {"id": "a", "question": "?", "answer": " "}
    with pytest.raises(DatasetError, match=r"rows\.jsonl, line 1: answer: is empty"):
        drafts(tmp_path / "rows.jsonl", row)


def test_imported_cases_tell_right_from_wrong(pytester: pytest.Pytester) -> None:
    drafts(
        pytester.path / "rows.jsonl",
        {"id": "a", "question": "6 times 7?", "answer": "42"},
        {"id": "b", "question": "Capital of France?", "answer": "Paris"},
    )
    assert main(["import", "quiz", "rows.jsonl", "--into", "bench/quiz"]) == 0
    run = ("--codegenie", "bench", "--codegenie-workspace=host")
    pytester.runpytest(*run).assert_outcomes(passed=2)
    pytester.runpytest(*run, "--codegenie-agent=nop").assert_outcomes(failed=2)
