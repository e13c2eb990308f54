"""Gates: whether a lower bound is reached, and whether anything regressed.

Pure: figures in, verdicts out. A gate that cannot be told is not met: too little data,
a task class that was not run, a comparison without a case, a run that ended early.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_codegenie.config import RequiredBound
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.evidence.comparison import Comparison
from pytest_codegenie.evidence.pairing import RunComparison
from pytest_codegenie.evidence.pairing import why_no_case
from pytest_codegenie.evidence.summary import Group


_NAMED = 5


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What one gate says of one task class and agent."""

    kind: Literal["lower_bound", "regression"]
    #: "" for the whole run.
    task_class: str
    #: The agent's label; "" for all.
    agent: str
    met: bool
    #: The figures, and why it is not met.
    text: str

    @property
    def word(self) -> str:
        """Return ``met`` or ``not met``."""
        return "met" if self.met else "not met"

    def __str__(self) -> str:
        agent = f" [{self.agent}]" if self.agent else ""
        of = printable(f"{self.task_class}{agent}: ") if self.task_class else ""
        return f"gate {self.word}: {of}{self.text}"


def judge_bounds(
    required: Sequence[RequiredBound], groups: Sequence[Group], unfinished: str = ""
) -> Iterator[GateVerdict]:
    """Yield a verdict for each required bound and each agent that it is of.

    Args:
        required: At most one for each task class, and one for all others.
        groups: What the run came to.
        unfinished: Why the run is not whole; "" where it is. No bound holds then: the
            cases that are missing may not be like the others.
    """
    named = {one.task_class: one for one in required if one.task_class is not None}
    for one in required:
        found = [
            group
            for group in groups
            if group.task_class == one.task_class
            or (one.task_class is None and group.task_class not in named)
        ]
        for group in found:
            yield _judge_bound(one.at_least, group, unfinished)
        if not found and (one.task_class is not None or not groups):
            yield _not_run(one, groups)


def _judge_bound(at_least: float, group: Group, unfinished: str) -> GateVerdict:
    bound = group.bound()
    reached = bound.value is not None and bound.value >= at_least
    if bound.value is None:
        text = f"no 95% lower bound ({bound.note}), {at_least:g} is required"
    else:
        does = "reaches" if reached else "is below"
        shown = exact_enough(bound.value, at_least)
        text = f"95% lower bound {shown} ({bound.note}) {does} {at_least:g}"
    counted = group.passed + group.failed
    text += f"; {group.passed} of {counted} passed"
    if group.errors:
        text += f", {group.errors} not judged (errors)"
    if unfinished:
        text += f"; {unfinished}"
    met = reached and not unfinished
    return GateVerdict("lower_bound", group.task_class, group.agent, met, text)


def _not_run(one: RequiredBound, groups: Sequence[Group]) -> GateVerdict:
    name = one.task_class or ""
    ran = dict.fromkeys(group.task_class for group in groups)
    meant = did_you_mean(name, ran) if name else ""
    text = f"no case has a result, {one.at_least:g} is required{meant}"
    return GateVerdict("lower_bound", name, "", met=False, text=text)


def exact_enough(value: float, limit: float) -> str:
    """Return a value so that what is shown is on the same side of the limit."""
    for digits in range(3, 17):
        text = f"{value:.{digits}f}"
        if (float(text) >= limit) == (value >= limit):
            return text
    return repr(value)


def judge_regressions(
    compared: RunComparison, unfinished: str = ""
) -> Iterator[GateVerdict]:
    """Yield a verdict for each group that was compared; one for none.

    A group that only one side has decides nothing: there is nothing to regress from.

    Args:
        compared: The earlier run, and the one that is judged.
        unfinished: Why the judged run is not whole; "" where it is.
    """
    if not compared.comparisons:
        text = f"nothing compared with {_run(compared)}: {compared.why_nothing}"
        yield GateVerdict("regression", "", "", met=False, text=text)
    for one in compared.comparisons:
        met, text = _judge_regression(one)
        text = f"compared with {_run(compared)}: {text}"
        if unfinished:
            text += f"; {unfinished}"
        met = met and not unfinished
        yield GateVerdict("regression", one.task_class, one.after.agent, met, text)


def _run(compared: RunComparison) -> str:
    return f"run {printable(compared.before.run_id)}"


def _judge_regression(one: Comparison) -> tuple[bool, str]:
    if not one.cases:
        return False, why_no_case((one,))
    text = f"{len(one.regressed)} of {one.cases} cases regressed"
    if one.regressed:
        text += f" ({_named(one.regressed)})"
    if one.not_compared:
        text += f"; {len(one.not_compared)} not compared"
    if one.after.errors:
        # It may be one that passed before.
        text += f"; {one.after.errors} not judged (errors): it cannot be told"
    return not (one.regressed or one.after.errors), text


def _named(ids: Sequence[str]) -> str:
    more = ", ..." if len(ids) > _NAMED else ""
    return ", ".join(map(printable, ids[:_NAMED])) + more


def all_met(verdicts: Iterable[GateVerdict]) -> bool:
    """Tell whether every gate is met."""
    return all(verdict.met for verdict in verdicts)
