"""What a run may take, from what earlier runs took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.evidence.history import Kind
from pytest_codegenie.evidence.history import Past
from pytest_codegenie.evidence.history import estimate
from pytest_codegenie.evidence.history import read_history


MINE = Kind("demo", "mine", "command")
OTHER = Kind("demo", "other", "command")


def line(kind: Kind, seconds: float, cost: float | None = None, **keys: Any) -> str:
    result = {
        "task_class": kind.task_class,
        "agent": kind.agent,
        "agent_name": kind.agent_name,
        "outcome": "passed",
        "timings": {"agent": seconds / 2, "judge": seconds / 2},
        "output": {"agent": {"cost_usd": cost}},
    }
    return json.dumps(result | keys) + "\n"


def write(out: Path, run: str, *lines: str) -> None:
    directory = out / "runs" / run
    directory.mkdir(parents=True)
    directory.joinpath("results.jsonl").write_text("".join(lines))


def test_results_of_all_runs_count_apart_from_errors(tmp_path: Path) -> None:
    write(tmp_path, "a", line(MINE, 10, 0.5), line(OTHER, 4, output=None))
    write(
        tmp_path,
        "b",
        line(MINE, 20, outcome="failed"),
        line(MINE, 0.1, 9.0, outcome="error"),
    )
    assert read_history(tmp_path) == {
        MINE: Past([10.0, 20.0], [0.5]),
        OTHER: Past([4.0], []),
    }


def test_what_no_agent_worked_on_says_nothing_of_what_one_takes(tmp_path: Path) -> None:
    lines = [
        line(MINE, 10, 0.5, provenance="run"),
        *(
            line(MINE, 0.01, 0.5, provenance=origin)
            for origin in ("verdict-cache", "patch-cache", "regraded")
        ),
    ]
    write(tmp_path, "a", *lines)
    assert read_history(tmp_path) == {MINE: Past([10.0], [0.5])}


@pytest.mark.parametrize(
    "broken", ["{\n", "[]\n", "{}\n", '{"outcome": "passed"}\n', "\0\n"]
)
def test_a_run_that_cannot_be_read_hides_no_other(tmp_path: Path, broken: str) -> None:
    write(tmp_path, "a", broken)
    write(tmp_path, "b", line(MINE, 3), '{"cut off')
    (tmp_path / "runs" / "c").mkdir()
    (tmp_path / "runs" / "d").write_text("no directory")
    assert read_history(tmp_path) == {MINE: Past([3.0], [])}


def test_there_may_be_no_run_at_all(tmp_path: Path) -> None:
    assert read_history(tmp_path / "none") == {}


HISTORY = {MINE: Past([1.0, 2.0, 90.0], [0.2, 0.4]), OTHER: Past([10.0], [])}


def test_an_estimate_is_the_sum_of_medians_over_workers() -> None:
    figures = estimate([MINE, MINE, MINE, OTHER, OTHER], HISTORY, workers=2)
    assert figures.seconds == (3 * 2.0 + 2 * 10.0) / 2
    assert (figures.untimed, figures.timed_results) == (0, 4)
    assert figures.cost_usd == pytest.approx(3 * 0.3)
    assert (figures.unpriced, figures.priced_results) == (2, 2)


def test_no_number_of_workers_makes_one_case_faster() -> None:
    assert estimate([MINE, OTHER], HISTORY, workers=50).seconds == 10.0


def test_what_is_unknown_is_not_zero() -> None:
    stranger = Kind("demo", "mine", "another-program")
    figures = estimate([stranger, stranger], HISTORY, workers=1)
    assert (figures.seconds, figures.cost_usd) == (None, None)
    assert (figures.untimed, figures.unpriced) == (2, 2)
    mixed = estimate([stranger, OTHER], HISTORY, workers=1)
    assert (mixed.seconds, mixed.untimed, mixed.cost_usd) == (10.0, 1, None)
