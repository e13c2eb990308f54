"""What a harness is: it turns a job into a result."""

from __future__ import annotations

from typing import Protocol

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult


class Harness(Protocol):
    """Runs the cases of one kind of work."""

    #: As ``harness`` in ``input/task.toml``.
    name: str

    def run(self, job: CaseJob, task: CaseTask) -> CaseResult:
        """Run one case. Whatever goes wrong with the case is in the result."""
        ...
