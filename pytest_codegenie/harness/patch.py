"""The harness ``patch``: an agent edits a repository, its diff is judged.

    workspace, agent, patch, fresh workspace, hidden tests, rubric

Only the patch goes from the agent's workspace to the one that is judged. So it may as
well come from a record: whose patch it is makes no difference from there on.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Protocol

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import CaseError
from pytest_codegenie.errors import RubricError
from pytest_codegenie.harness.judging import judge
from pytest_codegenie.harness.results import NotDone
from pytest_codegenie.harness.results import make_result
from pytest_codegenie.harness.results import zero_score
from pytest_codegenie.harness.room import CaseRoom
from pytest_codegenie.harness.solving import Recorded
from pytest_codegenie.harness.solving import Solving
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.models import Outcome
from pytest_codegenie.models import Provenance
from pytest_codegenie.models import utc_now
from pytest_codegenie.processes import redacting
from pytest_codegenie.scoring import score_case
from pytest_codegenie.workspaces import Base


#: The failure mode for a fault that nobody foresaw, by the phase it came in.
_CODE_OF_PHASE = {
    "prepare": "workspace.error",
    "agent": "agent.error",
    "diff": "workspace.error",
    "judge": "evaluator.error",
    "rubric": "rubric.malformed_output",
}


class PatchHarness:
    """Runs one case in two workspaces."""

    name = "patch"

    def run(self, job: CaseJob, task: CaseTask) -> CaseResult:
        """Run one case. Whatever goes wrong with the case is in the result."""
        return PatchRun(job, task, Solving).run()

    def judge(
        self, job: CaseJob, task: CaseTask, output: AgentOutput, provenance: Provenance
    ) -> CaseResult:
        """Judge what an agent left before, as if it had just left it."""
        return PatchRun(job, task, lambda _: Recorded(output)).run(provenance)


class Source(Protocol):
    """Where a patch comes from: an agent at work, a build, a record."""

    @property
    def output(self) -> AgentOutput | None:
        """What the agent left, as far as it is known; None before it was started."""
        ...

    def prepare(self) -> None:
        """Look whether there is any sense in beginning."""
        ...

    def work(self, base: Base) -> str:
        """Return the patch, "" for no change; ``output`` has it too."""
        ...


class PatchRun:
    """One run of one case: what is known so far, and the steps.

    Args:
        job: What to run.
        task: Of the case.
        make_source: Makes what the patch comes from, in the case's room.
    """

    def __init__(
        self, job: CaseJob, task: CaseTask, make_source: Callable[[CaseRoom], Source]
    ) -> None:
        self.job = job
        self.room = CaseRoom(job, task)
        self.source = make_source(self.room)
        self.evaluation: EvalResult | None = None

    def run(self, provenance: Provenance = "run") -> CaseResult:
        """Take all steps; whatever goes wrong with the case is in the result."""
        started_at = utc_now()
        kept: str | None = None
        try:
            outcome, score, message = self._outcome()
            if self._keeps(outcome):
                kept = self.room.keep()
        finally:
            if kept is None:
                self.room.close()
        result = make_result(
            self.job,
            outcome,
            score,
            started_at=started_at,
            message=message,
            output=self._output(),
            timings=self.room.timings,
            kept_workspace=kept,
            provenance=provenance,
        )
        result = self._without_secrets(result)
        self.room.write_artifact("result.json", result.to_json())
        return result

    def _without_secrets(self, result: CaseResult) -> CaseResult:
        clean = self.room.redactor.record(result)
        if clean.output is None or clean.output.patch == self._patch():
            return clean
        # What was judged is not what the record can show.
        agent = clean.output.agent
        told = agent.metadata | {"patch_redacted": True}
        agent = agent.model_copy(update={"metadata": told})
        output = clean.output.model_copy(update={"agent": agent})
        return clean.model_copy(update={"output": output})

    def _patch(self) -> str:
        return self.source.output.patch if self.source.output else ""

    def _outcome(self) -> tuple[Outcome, BenchScore, str]:
        """Take all steps; return how it ended."""
        try:
            score = self._steps()
        except NotDone as exc:
            return "failed", self._zero(exc.code, exc.reason), exc.reason
        except CaseError as exc:
            if isinstance(exc, RubricError):
                self.room.write_artifact("rubric.log", exc.printed)
            return "error", self._zero(exc.code, exc.reason), exc.reason
        except (Exception, SystemExit) as exc:  # parts are anybody's code
            reason = f"{type(exc).__name__}: {exc}"
            self.room.write_artifact("harness.log", traceback.format_exc())
            code = _CODE_OF_PHASE[self.room.phase]
            return "error", self._zero(code, reason), reason
        if score.passed:
            return "passed", score, ""
        return "failed", score, self.evaluation.error_message if self.evaluation else ""

    def _steps(self) -> BenchScore:
        self.source.prepare()
        with redacting(self.room.redactor.spellings):
            return self._work_and_judge()

    def _work_and_judge(self) -> BenchScore:
        room = self.room
        with room.timed("prepare"):
            room.open()
            base = room.make_base()
        patch = self.source.work(base)
        room.write_artifact("patch.diff", patch)
        shortcut = not self.job.judge_empty_patch
        if shortcut and not patch and self.job.case.disposition == "positive":
            raise NotDone("agent.no_patch", "the agent changed nothing")
        with room.timed("judge"):
            verdict = judge(room, base, patch)
        self.evaluation = verdict.result
        if verdict.tampering:
            raise NotDone("tests.tampered", "; ".join(verdict.tampering))
        with room.timed("rubric"):
            return self._score()

    def _score(self) -> BenchScore:
        output = self._output()
        assert output is not None, "an agent has worked"
        score, printed = score_case(
            self.job.case,
            output,
            task_class_dir=self.job.case.directory.parent.parent,
            breakdown_keys=self.job.breakdown_keys,
            taxonomy=self.job.failure_mode_taxonomy,
        )
        if printed:
            self.room.write_artifact("rubric.log", printed)
        return score

    def _output(self) -> HarnessOutput | None:
        """Return what there is to judge by now; None before an agent worked."""
        agent = self.source.output
        if agent is None:
            return None
        return HarnessOutput(
            agent=agent,
            patch=agent.patch,
            evaluation=self.evaluation,
            attempts=getattr(self.source, "attempts", 1),
            artifacts=self.room.artifacts,
        )

    def _keeps(self, outcome: Outcome) -> bool:
        keep = self.job.keep
        return keep == "always" or (keep == "failed" and outcome != "passed")

    def _zero(self, code: str, detail: str) -> BenchScore:
        agent = self.source.output
        if agent is None:
            return zero_score(code, detail)
        return zero_score(
            code, detail, cost_usd=agent.cost_usd, seconds=agent.duration_seconds
        )
