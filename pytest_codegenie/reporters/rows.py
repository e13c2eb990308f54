"""Results as flat rows, and what did not pass: what several reporters show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.models import CaseResult


#: What stands under each table of figures.
FOOTNOTE = (
    "Errors and ambiguous cases are in no mean and in no bound. Cost and tokens are as "
    "reported by the agent."
)


def flat_row(run: StoredRun, result: CaseResult) -> Mapping[str, Any]:
    """Return a result's row; what is unknown is None.

    Args:
        run: The run that it is of.
        result: The result.
    """
    agent = result.output.agent if result.output else None
    return {
        "run_id": result.run_id,
        "task_class": result.task_class,
        "case_id": result.case_id,
        "disposition": result.disposition,
        "agent": result.agent,
        "trial": result.trial,
        "outcome": result.outcome,
        # An error is no score of 0: nothing was judged.
        "score": None if result.outcome == "error" else result.score.score,
        "passed": None if result.outcome == "error" else result.score.passed,
        "breakdown": dict(result.score.breakdown),
        "failure_modes": [mode.code for mode in result.score.failure_modes],
        "cost_usd": agent and agent.cost_usd,
        "tokens": agent and agent.tokens_used,
        "model": agent and agent.model_name,
        "seconds": round(sum(result.timings.values()), 6) if result.timings else None,
        "artifacts": run.artifacts(result),
        "message": result.message,
    }


@dataclass(frozen=True, slots=True, order=True)
class NotPassed:
    """A result that is no pass, as far as a report shows it."""

    task_class: str
    agent: str
    case_id: str
    trial: int
    #: ``failed``, ``error``, or ``ambiguous``.
    kind: str
    failure_modes: tuple[str, ...]
    #: The first line of the message.
    message: str
    #: Relative to the run; "" for none.
    artifacts: str

    @property
    def name(self) -> str:
        """Return case, agent and trial, much as node ids have them."""
        trial = f"-t{self.trial}" if self.trial > 1 else ""
        return f"{self.case_id}[{self.agent}{trial}]"


def not_passed(run: StoredRun) -> list[NotPassed]:
    """Return what did not pass, sorted by task class, agent, case and trial."""
    return sorted(
        NotPassed(
            task_class=result.task_class,
            agent=result.agent,
            case_id=result.case_id,
            trial=result.trial,
            kind=_kind(result),
            failure_modes=tuple(mode.code for mode in result.score.failure_modes),
            message=result.message.strip().partition("\n")[0][:500],
            artifacts=run.artifacts(result) or "",
        )
        for result in run.results()
        if result.outcome != "passed"
    )


def _kind(result: CaseResult) -> str:
    if result.disposition == "ambiguous" and result.outcome != "error":
        return "ambiguous"
    return result.outcome


def cost_of(group: Group) -> str:
    """Return a group's cost in USD, as a table shows it."""
    known = None if group.cost_usd is None else f"{group.cost_usd:.4f}"
    return _partly_known(known, group.unpriced)


def tokens_of(group: Group) -> str:
    """Return a group's tokens, as a table shows them."""
    known = None if group.tokens is None else str(group.tokens)
    return _partly_known(known, group.unmetered)


def _partly_known(known: str | None, without: int) -> str:
    if known is None:
        return "unknown"
    return f"{known} + {without} unknown" if without else known


def mean_of(group: Group) -> str:
    """Return a group's mean score, as a table shows it."""
    return "n/a" if group.mean_score is None else f"{group.mean_score:.3f}"


def time_of(seconds: float) -> str:
    """Return a duration, as a table shows it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
