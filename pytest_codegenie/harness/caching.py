"""Answering a job from what is kept, and keeping what comes of one.

A patch that is known is judged without its agent; where the verdict is known too,
nothing is started at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pytest_codegenie.evidence.cache import Cache
from pytest_codegenie.evidence.cache import CachedPatch
from pytest_codegenie.evidence.cache import CachedVerdict
from pytest_codegenie.harness.artifacts import Artifacts
from pytest_codegenie.harness.identity import Identities
from pytest_codegenie.harness.results import make_result
from pytest_codegenie.harness.results import was_judged
from pytest_codegenie.harness.runner import CannotJudge
from pytest_codegenie.harness.runner import judge_output
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import utc_now
from pytest_codegenie.redaction import MARK


#: ``auto``: look up, and keep. ``refresh``: only keep.
Mode = Literal["auto", "refresh"]
#: Of an agent's output: with one of them the next run may end otherwise.
_UNSTEADY = ("exceeded", "patch_redacted", "processes_left", "stopped_by")


class CaseCache:
    """Stands before whatever runs jobs.

    Args:
        directory: ``<out>/cache``.
        mode: What is done.
    """

    def __init__(self, directory: Path, mode: Mode) -> None:
        self._cache = Cache(directory)
        self._identities = Identities()
        self._looks_up = mode == "auto"

    def take_problems(self) -> list[str]:
        """Return what was wrong with the cache since this was asked last."""
        problems, self._cache.problems = self._cache.problems, []
        return problems

    def answer(
        self, job: CaseJob, run_job: Callable[[CaseJob], CaseResult]
    ) -> CaseResult:
        """Return a job's result: the one that is known, or else what ``run_job`` gives.

        Raises:
            CodegenieError: As ``run_case``.
        """
        key = self._identities.patch_key(job)
        if key is None:
            return run_job(job)
        # A workspace that is to be kept has to be there.
        if self._looks_up and job.keep != "always":
            found = self._look_up(job, key)
            if found is not None:
                return found
        result = run_job(job)
        output = result.output and result.output.agent
        if output is not None and is_steady(result):
            patch = CachedPatch(run_id=job.run_id, made_at=utc_now(), output=output)
            self._cache.keep_patch(key, patch)
            self._keep_verdict(job, result)
        return result

    def _look_up(self, job: CaseJob, key: str) -> CaseResult | None:
        started = time.monotonic()
        patch = self._cache.find_patch(key)
        if patch is None:
            return None
        verdict_key = self._identities.verdict_key(job, patch.output)
        verdict = verdict_key and self._cache.find_verdict(verdict_key)
        if job.keep == "failed" and not (verdict and verdict.outcome == "passed"):
            return None
        if verdict:
            return recall(job, patch.output, verdict, started)
        try:
            result = judge_output(job, patch.output, provenance="patch-cache")
        except CannotJudge:
            return None
        if is_steady(result):
            self._keep_verdict(job, result)
        return result

    def _keep_verdict(self, job: CaseJob, result: CaseResult) -> None:
        assert result.output is not None, "it is steady"
        assert result.outcome != "error", "it is steady"
        key = self._identities.verdict_key(job, result.output.agent)
        if key is not None:
            verdict = CachedVerdict(
                run_id=job.run_id,
                made_at=utc_now(),
                outcome=result.outcome,
                score=result.score,
                evaluation=result.output.evaluation,
                message=result.message,
            )
            self._cache.keep_verdict(key, verdict)


def recall(
    job: CaseJob, output: AgentOutput, verdict: CachedVerdict, started: float
) -> CaseResult:
    """Return the result that is known of a job, with artifacts in its own run.

    Args:
        job: What would be run.
        output: What its agent left then.
        verdict: What was said of it.
        started: A reading of the monotonic clock: when it was begun to be looked up.
    """
    started_at = utc_now()
    artifacts = Artifacts(job)
    artifacts.write_artifact("patch.diff", output.patch)
    result = make_result(
        job,
        verdict.outcome,
        verdict.score,
        started_at=started_at,
        message=verdict.message,
        output=HarnessOutput(
            agent=output,
            patch=output.patch,
            evaluation=verdict.evaluation,
            artifacts=artifacts.artifacts,
        ),
        timings={"cache": time.monotonic() - started},
        provenance="verdict-cache",
    )
    artifacts.write_artifact("result.json", result.to_json())
    return result


def is_steady(result: CaseResult) -> bool:
    """Say whether a result may stand for those of the same job that come later.

    Not where anything ran out of time or was ended, went wrong, was left running, or
    had something taken out of it that no record may hold.
    """
    if result.outcome == "error" or result.output is None or not was_judged(result):
        return False
    evaluation = result.output.evaluation
    if evaluation is not None and evaluation.status not in ("passed", "failed"):
        return False
    agent = result.output.agent
    if any(agent.metadata.get(fact) for fact in _UNSTEADY):
        return False
    return MARK not in result.to_json()
