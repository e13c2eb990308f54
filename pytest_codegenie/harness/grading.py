"""Judging again what agents left in an earlier run, by today's tests and rubric.

No agent is started. What came of it that has nothing to do with the tests or the rubric
stays as it was: an agent that ran out of time is not given more. And what cannot be
told from the record is an ERROR that says so, never a guess.
"""

from __future__ import annotations

from pytest_codegenie.harness.artifacts import Artifacts
from pytest_codegenie.harness.results import make_result
from pytest_codegenie.harness.results import was_judged
from pytest_codegenie.harness.results import zero_score
from pytest_codegenie.harness.runner import CannotJudge
from pytest_codegenie.harness.runner import judge_output
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import Outcome
from pytest_codegenie.models import utc_now


#: Of an error that comes from the record, not from today.
_NOT_REGRADED = "cannot be graded again"


def grade_again(job: CaseJob, earlier: CaseResult) -> CaseResult:
    """Return what today's tests and rubric say of what an agent left.

    Args:
        job: What would be run today.
        earlier: Of the same case, agent and trial, in another run.

    Raises:
        BenchCaseDigestMismatch: The case changed since it was verified.
        BenchCaseLoadError: The case's task cannot be read.
    """
    fault = _fault(earlier)
    if fault:
        return _not_graded(job, earlier, fault)
    assert earlier.output is not None, "that is a fault"
    if not was_judged(earlier):
        # It failed before anything was judged: by its limit of time, or of size.
        score, message = earlier.score, earlier.message
        return _written(job, earlier, earlier.outcome, score, message)
    try:
        return judge_output(job, earlier.output.agent)
    except CannotJudge as exc:
        return _not_graded(job, earlier, str(exc))


def _fault(earlier: CaseResult) -> str:
    """Say why a result's patch cannot be judged again; "" if it can."""
    if earlier.output is None:
        return f"no agent came to its end: {earlier.message}"
    if earlier.output.agent.metadata.get("patch_redacted"):
        return "a secret was taken out of the patch that is on record"
    if earlier.outcome == "error" and not was_judged(earlier):
        return f"there is no patch on record: {earlier.message}"
    return ""


def _not_graded(job: CaseJob, earlier: CaseResult, fault: str) -> CaseResult:
    reason = f"{_NOT_REGRADED}: {fault}"
    if earlier.message.startswith(_NOT_REGRADED):
        reason = earlier.message  # that run was one of this kind, too
    modes = earlier.score.failure_modes if earlier.outcome == "error" else ()
    code = modes[0].code if modes else "evaluator.error"
    return _written(job, earlier, "error", zero_score(code, reason), reason)


def _written(
    job: CaseJob,
    earlier: CaseResult,
    outcome: Outcome,
    score: BenchScore,
    message: str,
) -> CaseResult:
    """Return a result that nobody judged today, with its artifacts written."""
    artifacts = Artifacts(job)
    output = earlier.output
    if output is not None:
        artifacts.write_artifact("patch.diff", output.patch)
        output = HarnessOutput(
            agent=output.agent, patch=output.patch, artifacts=artifacts.artifacts
        )
    result = make_result(
        job,
        outcome,
        score,
        started_at=utc_now(),
        message=message,
        output=output,
        provenance="regraded",
    )
    artifacts.write_artifact("result.json", result.to_json())
    return result


def never_recorded(job: CaseJob, run_id: str) -> CaseResult:
    """Return the result of a job of which an earlier run has none.

    Args:
        job: What would be run today.
        run_id: Of that run.
    """
    reason = f"{_NOT_REGRADED}: run {run_id} was cut off and has no result of it"
    return make_result(
        job,
        "error",
        zero_score("agent.error", reason),
        started_at=utc_now(),
        message=reason,
        provenance="regraded",
    )
