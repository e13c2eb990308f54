"""What a harness is: it turns a job into a result."""

from __future__ import annotations

from typing import Protocol

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import Provenance


class Harness(Protocol):
    """Runs the cases of one kind of work."""

    #: As ``harness`` in ``input/task.toml``.
    name: str

    def run(self, job: CaseJob, task: CaseTask) -> CaseResult:
        """Run one case. Whatever goes wrong with the case is in the result."""
        ...

    def judge(
        self, job: CaseJob, task: CaseTask, output: AgentOutput, provenance: Provenance
    ) -> CaseResult:
        """Judge what an agent left before, without starting it.

        From the patch on it is as in ``run``: the same tests, rubric, failure modes and
        artifacts. A harness may do without this method: its cases are never answered
        from the cache of patches then, and grading a run again makes them ERRORs.

        Args:
            job: Of today; its agent says only whose work it is.
            task: Of the case.
            output: As recorded, its patch in it; of an agent that came to its end.
            provenance: For the result: where the output comes from.
        """
        ...
