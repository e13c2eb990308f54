"""What a rubric is."""

from __future__ import annotations

from typing import Protocol
from typing import runtime_checkable

from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import HarnessOutput


@runtime_checkable
class Rubric(Protocol):
    """Turns what an agent left into a score.

    A rubric is made without arguments, in a process of its own with an empty
    environment, limits and a scratch directory, and scores every case in a fork of
    that process: nothing is remembered from one score to the next. It may read the
    case's files; it sees no workspace.
    """

    def score(self, case: BenchCase, harness_output: HarnessOutput) -> BenchScore:
        """Score one case.

        Args:
            case: What was to be done.
            harness_output: The agent's output, its patch, and what the tests say.

        Returns:
            ``passed``, a score in [0, 1], a breakdown whose keys are all in the task
            class's ``BreakdownKey``, failure modes of its taxonomy.
        """
        ...
