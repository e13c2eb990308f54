"""``run_case``: from a job to a result, knowing nothing of pytest.

``judge_output`` takes the same way from the agent's output on.
"""

from __future__ import annotations

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import read_task
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.harness.protocol import Harness
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import Provenance
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part


class CannotJudge(Exception):
    """The case's harness judges nothing but what an agent leaves before its eyes."""


def run_case(job: CaseJob) -> CaseResult:
    """Run one case with one agent once.

    The result depends on the job alone (and on the agent). It may be called in a
    pytest item, a thread, another process or another machine that has the case.

    Args:
        job: What to run.

    Returns:
        The result, with what went wrong in it: a case that cannot be judged has the
        outcome ``error``.

    Raises:
        BenchCaseDigestMismatch: The case changed since it was verified.
        BenchCaseLoadError: The case's task cannot be read.
    """
    harness, task = _harness_of(job)
    return harness.run(job, task)


def judge_output(
    job: CaseJob, output: AgentOutput, *, provenance: Provenance = "regraded"
) -> CaseResult:
    """Judge what an agent left in an earlier run; it is not started.

    Args:
        job: What would be run today.
        output: Of an agent that came to its end, its patch in it.
        provenance: Where the output comes from.

    Returns:
        The result, as ``run_case`` gives it.

    Raises:
        CannotJudge: The case's harness has no way to do it.
        BenchCaseDigestMismatch: The case changed since it was verified.
        BenchCaseLoadError: The case's task cannot be read.
    """
    harness, task = _harness_of(job)
    judge = getattr(harness, "judge", None)
    if judge is None:
        raise CannotJudge(
            f"the harness {task.task.harness!r} has no method 'judge': what it judges "
            "is an agent at work, not what one has left"
        )
    result: CaseResult = judge(job, task, output, provenance)
    return result


def _harness_of(job: CaseJob) -> tuple[Harness, CaseTask]:
    """Return who runs a job, and its task, once the case is what was verified."""
    computed = hash_case(job.case.directory).digest
    if computed != job.case.case_digest:
        raise BenchCaseDigestMismatch(
            job.case.case_id,
            job.case.case_digest,
            computed,
            directory=job.case.directory,
            source="what was verified when the run began",
        )
    task = read_task(job.case)
    try:
        harness: Harness = make_part("harness", task.task.harness, job.parts.harnesses)
    except UnknownPartError as exc:
        raise BenchCaseLoadError(
            job.case.directory, "input/task.toml", f"harness: {exc}"
        ) from exc
    return harness, task
