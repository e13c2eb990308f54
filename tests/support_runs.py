"""Runs in a store, as a test needs them: real records and results, written by ours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import chain_reports
from pytest_codegenie.evidence import create_run
from pytest_codegenie.evidence import make_report
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence import summarise
from pytest_codegenie.evidence import write_record
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import FailureMode
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import RunRecord
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters import report_text


NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def result(
    case_id: str = "a",
    outcome: str = "passed",
    *,
    score: float | None = None,
    mode: str = "",
    breakdown: dict[str, float] | None = None,
    cost: float | None = None,
    tokens: int | None = None,
    model: str | None = None,
    evaluation: EvalResult | None = None,
    artifacts: dict[str, str] | None = None,
    **fields: Any,
) -> CaseResult:
    """Return a result; ``mode`` is the code of its failure mode."""
    passed = outcome == "passed"
    modes = [FailureMode(code=mode, severity="block")] if mode else []
    agent = AgentOutput(
        instance_id=case_id,
        agent_name="nop",
        cost_usd=cost,
        tokens_used=tokens,
        model_name=model,
    )
    values: dict[str, Any] = {
        "run_id": "example",
        "case_id": case_id,
        "task_class": "demo",
        "case_digest": f"digest of {case_id}",
        "disposition": "positive",
        "difficulty": "easy",
        "curation_class": "held-out",
        "agent": "nop",
        "agent_name": "nop",
        "trial": 1,
        "workspace": "host",
        "outcome": outcome,
        "score": BenchScore(
            passed=passed,
            score=float(passed) if score is None else score,
            breakdown=breakdown or {},
            failure_modes=tuple(modes),
        ),
        "output": HarnessOutput(
            agent=agent, evaluation=evaluation, artifacts=artifacts or {}
        ),
        "timings": {"agent": 1.0, "judge": 0.5},
        "started_at": NOW,
        "ended_at": NOW,
        "harness_version": "0",
    }
    return CaseResult.model_validate(values | fields)


def store_run(
    out: Path,
    results: Sequence[CaseResult],
    *,
    run_id: str = "example",
    trials: int = 1,
    selected: Sequence[str] | None = None,
    started_at: dt.datetime = NOW,
) -> StoredRun:
    """Write a run below ``out/runs`` and return it.

    Args:
        out: As ``--codegenie-out``.
        results: In this order.
        run_id: Its id.
        trials: As in the configuration.
        selected: Names of items; None: those of the results.
        started_at: When it began.
    """
    directory = create_run(out, run_id)
    if selected is None:
        selected = [item_name(one, trials=trials) for one in results]
    record = RunRecord(
        run_id=run_id,
        started_at=started_at,
        config={"trials": trials},
        versions={"pytest-codegenie": "0", "pytest": "9"},
        items=tuple(f"bench/demo/cases/x/case.toml::{name}" for name in selected),
    )
    write_record(directory / "run.json", record)
    # At once: ``append_result`` would wait for the disk each time.
    lines = "".join(f"{one.to_json()}\n" for one in results)
    (directory / RESULTS).write_text(lines, encoding="utf-8")
    return open_run(directory)


def recorded_run(
    out: Path,
    results: Sequence[CaseResult],
    *,
    run_id: str = "example",
    complete: bool = True,
    **options: Any,
) -> StoredRun:
    """Write a run with its reports, which the audit chain has, as a session does.

    Args:
        out: As ``--codegenie-out``.
        results: In this order; they get the run's id.
        run_id: Its id.
        complete: What the reports say.
        options: For ``store_run``.
    """
    own = [one.model_copy(update={"run_id": run_id}) for one in results]
    run = store_run(out, own, run_id=run_id, **options)
    reports = [
        make_report(
            group,
            run_id=run_id,
            harness_version="0",
            agent_settings={"name": group.agent},
            complete=complete,
        )
        for group in summarise(read_plain_results(run.directory))
    ]
    linked, _ = chain_reports(out, run.directory, reports)
    for report in linked:
        name = f"report-{report.task_class}-{report.agent}.json"
        write_record(run.directory / name, report)
    return run


def item_name(one: CaseResult, *, trials: int = 1) -> str:
    """Return the name that the item of a result has in a session."""
    suffix = f"-t{one.trial}" if trials > 1 else ""
    return f"{one.case_id}[{one.agent}{suffix}]"


def reported(run: StoredRun, name: str, form: Form | None = None) -> str:
    """Return a report by the name of a reporter that ships."""
    reporter = make_part("reporter", name, BUILTIN_PARTS.reporters)
    return report_text(name, reporter, run, form)
