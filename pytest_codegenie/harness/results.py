"""How a case ends: results, and the scores that the harness itself gives."""

from __future__ import annotations

import datetime as dt

import pytest_codegenie
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import FailureMode
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import Outcome
from pytest_codegenie.models import Provenance
from pytest_codegenie.models import utc_now


class NotDone(Exception):
    """The case ends as FAILED before a rubric sees it."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


def zero_score(
    code: str, detail: str, *, cost_usd: float | None = None, seconds: float = 0.0
) -> BenchScore:
    """Return the score of a case that never came before its rubric.

    Args:
        code: The harness's failure mode; of severity ``block``.
        detail: What happened.
        cost_usd: As reported by the agent.
        seconds: How long the agent ran.
    """
    return BenchScore(
        passed=False,
        score=0.0,
        failure_modes=(FailureMode(code=code, severity="block", detail=detail),),
        cost_usd=cost_usd or 0.0,
        wall_clock_ms=seconds * 1000,
    )


def make_result(
    job: CaseJob,
    outcome: Outcome,
    score: BenchScore,
    *,
    started_at: dt.datetime,
    message: str,
    output: HarnessOutput | None = None,
    timings: dict[str, float] | None = None,
    kept_workspace: str | None = None,
    provenance: Provenance = "run",
) -> CaseResult:
    """Return the result of a job that ends now."""
    return CaseResult(
        run_id=job.run_id,
        case_id=job.case.case_id,
        task_class=job.case.task_class,
        case_digest=job.case.case_digest,
        rubric_digest=job.rubric_digest,
        disposition=job.case.disposition,
        difficulty=job.case.difficulty,
        curation_class=job.case.curation_class,
        agent=job.agent.label,
        agent_name=job.agent.name,
        trial=job.trial,
        attempt=job.attempt,
        provenance=provenance,
        workspace=job.workspace,
        outcome=outcome,
        score=score,
        output=output,
        message=message,
        timings=timings or {},
        started_at=started_at,
        ended_at=utc_now(),
        harness_version=pytest_codegenie.__version__,
        kept_workspace=kept_workspace,
    )


def unfinished_result(
    job: CaseJob, *, code: str, reason: str, started_at: dt.datetime
) -> CaseResult:
    """Return the error result of a job that ``run_case`` never returned from."""
    score = zero_score(code, reason)
    return make_result(job, "error", score, started_at=started_at, message=reason)


def was_judged(result: CaseResult) -> bool:
    """Say whether an agent came to its end and its patch, or that it has none, counted.

    Not where the agent was ended by its limit, or left more than is judged, or where
    something broke before.
    """
    codes = {mode.code for mode in result.score.failure_modes}
    known = result.provenance == "verdict-cache"
    return known or "judge" in result.timings or "agent.no_patch" in codes
