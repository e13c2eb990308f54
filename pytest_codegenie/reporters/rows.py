"""Results as flat rows, figures as text: what several reporters show."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence.rows import flat_row as flat_row
from pytest_codegenie.evidence.statistics import TrialFigures
from pytest_codegenie.models import CaseResult


#: What stands under each table of figures.
FOOTNOTE = (
    "Errors and ambiguous cases are in no mean and in no bound. Cost and tokens are as "
    "reported by the agent."
)


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


#: ``Provenance`` to what is said of such results.
_RECALLED = {
    "verdict-cache": "from the cache",
    "patch-cache": "judged anew, the patch from the cache",
    "regraded": "judged anew, the patch from an earlier run",
}


def recalled_of(group: Group) -> str:
    """Return how many results come from where; "" where agents worked on all."""
    return "; ".join(
        f"{group.recalled[kind]} of {group.results} {words}"
        for kind, words in _RECALLED.items()
        if group.recalled[kind]
    )


def mean_of(group: Group) -> str:
    """Return a group's mean score, as a table shows it."""
    return shown(group.mean_score)


def bound_of(group: Group) -> str:
    """Return a group's lower bound with its estimator, or why there is none."""
    bound = group.bound()
    return f"{shown(bound.value)} ({bound.note})"


def shown(value: float | None) -> str:
    """Return a share or a score, as a table shows it."""
    return "n/a" if value is None else f"{value:.3f}"


def trials_of(figures: TrialFigures) -> str:
    """Return in a line what several trials of each case say."""
    first, last = figures.at[0], figures.at[-1]
    parts = [
        f"pass@1 {shown(first.pass_at)}  pass@{last.k} {shown(last.pass_at)}  "
        f"pass^{last.k} {shown(last.pass_hat)}",
        f"{figures.flipping} of {figures.repeated} cases flip",
    ]
    if last.left_out:
        parts.append(f"at {last.k} without {left_out_of(figures)}")
    return "; ".join(parts)


def left_out_of(figures: TrialFigures) -> str:
    """Return how many cases had too many errors for all trials to be judged."""
    return f"{cases_of(figures.at[-1].left_out)} with fewer judged trials"


def cases_of(count: int) -> str:
    """Return a number of cases in words."""
    return f"{count} case{'' if count == 1 else 's'}"


def time_of(seconds: float) -> str:
    """Return a duration, as a table shows it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
