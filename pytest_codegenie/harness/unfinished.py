"""The result of a job that was ended from outside."""

from __future__ import annotations

import datetime as dt

import pytest_codegenie
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import FailureMode
from pytest_codegenie.models import utc_now


def unfinished_result(
    job: CaseJob, *, code: str, reason: str, started_at: dt.datetime
) -> CaseResult:
    """Return the error result of a job that ``run_case`` never returned from."""
    mode = FailureMode(code=code, severity="block", detail=reason)
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
        workspace=job.workspace,
        outcome="error",
        score=BenchScore(passed=False, score=0.0, failure_modes=(mode,)),
        message=reason,
        started_at=started_at,
        ended_at=utc_now(),
        harness_version=pytest_codegenie.__version__,
    )
