"""Runs in a store with records in an audit chain, made without a session."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest_codegenie
from pytest_codegenie.evidence import RUN
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence import create_run
from pytest_codegenie.evidence import make_report
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence import summarise
from pytest_codegenie.evidence import write_record
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.content import chain_reports
from pytest_codegenie.evidence.audit.content import report_name
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import RunRecord


NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
CASE_DIGEST = "blake3:" + "c" * 64


def make_result(case_id: str = "first", **fields: Any) -> CaseResult:
    """Return a result of a case that was passed, but for what ``fields`` say."""
    agent = fields.get("agent", "oracle")
    values: dict[str, Any] = {
        "run_id": "run-1",
        "case_id": case_id,
        "task_class": "demo-task",
        "case_digest": CASE_DIGEST,
        "disposition": "positive",
        "difficulty": "easy",
        "curation_class": "held-out",
        "agent": agent,
        "agent_name": agent,
        "trial": 1,
        "workspace": "host",
        "outcome": "passed",
        "score": BenchScore(passed=True, score=0.75, breakdown={"tests": 0.5}),
        "output": HarnessOutput(
            agent=AgentOutput(instance_id=case_id, agent_name=agent, cost_usd=0.1)
        ),
        "started_at": NOW,
        "ended_at": NOW + dt.timedelta(seconds=1),
        "harness_version": pytest_codegenie.__version__,
    }
    return CaseResult.model_validate(values | fields)


class Store:
    """``root/.codegenie``, with whatever runs a test wants."""

    def __init__(self, root: Path) -> None:
        self.out = root / ".codegenie"

    @property
    def chain(self) -> Path:
        """The chain's file."""
        return self.out / AUDIT / CHAIN

    @property
    def lines(self) -> list[bytes]:
        """The chain's lines, ends included."""
        return self.chain.read_bytes().splitlines(keepends=True)

    def run(self, run_id: str, results: Sequence[CaseResult]) -> Path:
        """Make a run with results, and nothing on record."""
        directory = create_run(self.out, run_id)
        record = RunRecord(run_id=run_id, started_at=NOW, config={}, versions={})
        write_record(directory / RUN, record)
        for result in results:
            append_result(directory, result.model_copy(update={"run_id": run_id}))
        return directory

    def reports(self, run_id: str, **fields: Any) -> list[BenchRunReport]:
        """Return the reports of a run, as they are before they are on record."""
        directory = self.out / "runs" / run_id
        reports = [
            make_report(
                group,
                run_id=run_id,
                harness_version=pytest_codegenie.__version__,
                agent_settings={"name": group.agent},
                complete=True,
            )
            for group in summarise(read_plain_results(directory))
        ]
        return [report.model_copy(update=fields) for report in reports]

    def record(
        self, run_id: str, fields: Mapping[str, Any] | None = None
    ) -> list[BenchRunReport]:
        """Put a run on record, and write its reports."""
        directory = self.out / "runs" / run_id
        reports = self.reports(run_id, **(fields or {}))
        chained, _ = chain_reports(self.out, directory, reports)
        for report in chained:
            name = report_name(report.task_class, report.agent)
            write_record(directory / name, report)
        return chained

    def recorded_run(
        self, run_id: str = "run-1", results: Sequence[CaseResult] = ()
    ) -> list[BenchRunReport]:
        """Make a run of three cases, or of these results, and put it on record."""
        cases = [make_result(name) for name in ("first", "second", "third")]
        self.run(run_id, results or cases)
        return self.record(run_id)
