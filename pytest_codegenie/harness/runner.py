"""``run_case``: from a job to a result, knowing nothing of pytest."""

from __future__ import annotations

from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import read_task
from pytest_codegenie.errors import BenchCaseDigestMismatch
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.harness.protocol import Harness
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part


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
    return harness.run(job, task)
