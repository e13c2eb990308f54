"""What an agent costs while it works: told to the run's budget, which may end it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.agents import Usage
from pytest_codegenie.evidence.budget.ledger import Ledger
from pytest_codegenie.harness import watching
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.spending import Spending
from pytest_codegenie.harness.watching import UsageWatch
from pytest_codegenie.models import CaseJob


@pytest.fixture
def job(bench: Bench, tmp_path: Path) -> CaseJob:
    """A job with half of a budget of one dollar."""
    bench.case()
    job = bench.job(agent="command", options={"command": ["sh", "-c", FIX]})
    path = tmp_path / "budget.jsonl"
    ledger = Ledger(path)
    ledger.begin(1.0, ())
    reservation = ledger.reserve(job, limit_usd=0.5, past_usd=(), workers=1)
    return job.model_copy(update={"budget_path": path, "reservation": reservation})


def test_without_a_budget_nothing_is_told(bench: Bench, tmp_path: Path) -> None:
    bench.case()
    spending = Spending(bench.job(), tmp_path / "stop")
    spending.start()
    spending.tell(5.0)
    spending.check()
    spending.end()
    assert (spending.is_limited, spending.stop) == (False, None)
    assert not (tmp_path / "stop").exists()


def test_an_agent_is_ended_where_the_cap_is_reached(
    job: CaseJob, tmp_path: Path
) -> None:
    spending = Spending(job, tmp_path / "stop")
    spending.start()
    spending.tell(1.0)
    spending.check()
    assert not (tmp_path / "stop").exists()
    spending.tell(1.01)
    spending.check()
    assert (tmp_path / "stop").exists()
    assert spending.known_usd == 1.01


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0, None])
def test_what_is_no_cost_is_not_told(
    job: CaseJob, tmp_path: Path, wrong: float | None
) -> None:
    spending = Spending(job, tmp_path / "stop")
    spending.start()
    spending.tell(wrong)
    assert spending.known_usd is None
    assert b'"use"' not in (tmp_path / "budget.jsonl").read_bytes()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def test_an_adapter_that_breaks_does_not_keep_the_budget_from_ending_its_agent(
    job: CaseJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(watching, "_EVERY_SECONDS", 0.02)
    asked = []

    def read() -> Usage:
        asked.append(1)
        raise ValueError("broken")

    spending = Spending(job, tmp_path / "stop")
    spending.start()
    other = Ledger(tmp_path / "budget.jsonl")
    name = other.reserve(job, limit_usd=0.5, past_usd=(), workers=1)
    assert name is not None
    with UsageWatch(read, Progress(None), spending):
        until(lambda: bool(asked))
        assert not (tmp_path / "stop").exists()
        other.use(name, 0.6)
        until((tmp_path / "stop").exists)
    assert len(asked) == 1


def test_a_case_runs_on_its_reservation(bench: Bench, job: CaseJob) -> None:
    result = bench.run(
        agent="command",
        options=job.agent.options,
        budget_path=job.budget_path,
        reservation=job.reservation,
    )
    assert result.outcome == "passed"
    assert job.budget_path is not None
    assert b'"event":"start"' in job.budget_path.read_bytes()
