"""How a build ends: each way is a result of its own, with its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import Literal

from pytest_codegenie.errors import EXIT_COST
from pytest_codegenie.errors import EXIT_ITERATIONS
from pytest_codegenie.errors import EXIT_RETRIES
from pytest_codegenie.errors import EXIT_RULE
from pytest_codegenie.errors import CaseError


#: ``until``: as far as was asked for.
Ended = Literal["complete", "until", "retries", "iterations", "rule", "cost", "error"]
EXIT_CODES: Mapping[Ended, int] = {
    "complete": 0,
    "until": 0,
    "error": 1,
    "cost": EXIT_COST,
    "retries": EXIT_RETRIES,
    "iterations": EXIT_ITERATIONS,
    "rule": EXIT_RULE,
}


class BuildStopped(Exception):
    """A build ends before all of its prompts are complete.

    Args:
        ended: In which way.
        message: What happened.
        remedy: What to do next.
        error: Why nothing can be told of the agent's work; None: that is not so.
    """

    def __init__(
        self,
        ended: Ended,
        message: str,
        remedy: str = "",
        error: CaseError | None = None,
    ) -> None:
        super().__init__(ended, message)
        self.ended = ended
        self.message = message
        self.remedy = remedy
        self.error = error


class TryFailed(Exception):
    """A try comes to nothing; the tree is as it was.

    Args:
        reason: A sentence.
        context: What the next try is told.
        breaks_rule: It broke a rule.
    """

    def __init__(
        self, reason: str, context: str = "", *, breaks_rule: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.context = context or reason
        self.breaks_rule = breaks_rule


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What came of a build."""

    ended: Ended
    #: What happened, and what to do next.
    message: str = ""
    remedy: str = ""
    prompts: int = 0
    completed: int = 0
    #: Of all prompts, over all builds of the project.
    tries: int = 0
    retries: int = 0
    #: Of all prompts together.
    retries_allowed: int = 0
    rules_broken: int = 0
    cost_usd: float = 0.0
    gates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    error: CaseError | None = None

    @property
    def exit_code(self) -> int:
        """Return what ``codegenie build`` ends in."""
        return EXIT_CODES[self.ended]

    def facts(self) -> dict[str, Any]:
        """Return what a rubric sees, as ``metadata["foundry"]`` of the agent."""
        return {
            "prompts": self.prompts,
            "completed": self.completed,
            "tries": self.tries,
            "retries": self.retries,
            "retries_allowed": self.retries_allowed,
            "rules_broken": self.rules_broken,
            "ended": self.ended,
            "gates": {name: dict(figures) for name, figures in self.gates.items()},
        }
