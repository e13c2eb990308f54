"""How far a case is, told through a file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.harness.progress import CaseProgress
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.progress import read_progress


def test_a_phase_and_what_was_used_are_told_together(tmp_path: Path) -> None:
    path = tmp_path / "case[agent]"
    progress = Progress(path)
    assert read_progress(path) == CaseProgress()
    progress.enter("agent")
    assert read_progress(path) == CaseProgress(phase="agent")
    progress.update(tokens=10)
    progress.update(cost_usd=0.5)
    progress.enter("judge")
    assert read_progress(path) == CaseProgress(phase="judge", tokens=10, cost_usd=0.5)
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_that_come_often_are_told_at_the_latest_with_the_next_phase(
    tmp_path: Path,
) -> None:
    path = tmp_path / "case"
    progress = Progress(path)
    progress.enter("agent")
    for count in range(1000):
        progress.update(tokens=count)
    progress.enter("diff")
    assert read_progress(path).tokens == 999


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0])
def test_a_number_that_is_none_is_left_out(tmp_path: Path, wrong: float) -> None:
    progress = Progress(tmp_path / "case")
    progress.update(cost_usd=1.0)
    progress.update(cost_usd=wrong)
    progress.enter("diff")
    assert read_progress(tmp_path / "case").cost_usd == 1.0


def test_nobody_is_hurt_where_it_cannot_be_told(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "missing" / "case")
    progress.enter("agent")
    progress.update(tokens=1)
    assert read_progress(tmp_path / "missing" / "case") == CaseProgress()


@pytest.mark.parametrize("text", ["", "{", '{"phase": 1}', "\0", '{"other": ""}'])
def test_a_file_that_is_no_progress_tells_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "case"
    path.write_text(text, encoding="utf-8")
    assert read_progress(path) == CaseProgress()
    assert read_progress(tmp_path) == CaseProgress()


def test_a_case_that_runs_tells_its_phases(bench: Bench, tmp_path: Path) -> None:
    bench.case()
    path = tmp_path / "progress"
    seen = tmp_path / "seen"
    result = bench.run_shell(f"cp {path} {seen}; {FIX}", progress_path=path)
    assert result.outcome == "passed"
    assert read_progress(seen).phase == "agent"
    assert read_progress(path).phase == "rubric"


def test_without_a_path_no_file_is_made(bench: Bench, tmp_path: Path) -> None:
    bench.case()
    before = set(tmp_path.iterdir())
    assert bench.run_shell(FIX).outcome == "passed"
    assert set(tmp_path.iterdir()) == before
