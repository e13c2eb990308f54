"""The counts of a run as other tools know them: one ``RunSummary`` a group."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import RunSummary


_TIMEOUT = "agent.timeout"
#: The counts that a total is made of.
_COUNTS = ("resolved", "failed", "errors", "skipped")


def make_summaries(run_id: str, results: Iterable[CaseResult]) -> list[RunSummary]:
    """Count a run's results for each task class and agent, sorted by their names.

    Every result is counted, each trial of a case as one, and each in exactly one of
    four: ``total`` is ``resolved + failed + errors + skipped``.

    - ``resolved``: passed.
    - ``failed``: the agent did not do it.
    - ``errors``: it could not be told whether the agent did it.
    - ``skipped``: ambiguous cases that were judged: reported, never counted.
    - ``timeouts``: those of ``failed`` whose agent ran out of time
      (``agent.timeout``).

    ``results`` has one for each result, sorted by case and trial: what the tests said,
    and where none ran one that has no test and says why in ``error_message``.

    Args:
        run_id: The run's id.
        results: In any order.
    """
    groups: dict[tuple[str, str], list[_Counted]] = {}
    for result in results:
        key = (result.task_class, result.agent)
        groups.setdefault(key, []).append(_count(result))
    return [
        _summary(run_id, task_class, agent, sorted(counted, key=lambda one: one[0]))
        for (task_class, agent), counted in sorted(groups.items())
    ]


#: What to sort by, the count that it is in, whether time ran out, and what tests said.
_Counted = tuple[tuple[str, int], str, bool, EvalResult]


def _count(result: CaseResult) -> _Counted:
    timed_out = any(mode.code == _TIMEOUT for mode in result.score.failure_modes)
    kind = {"passed": "resolved", "failed": "failed"}.get(result.outcome, "errors")
    if result.disposition == "ambiguous" and result.outcome != "error":
        kind = "skipped"
    said = result.output.evaluation if result.output else None
    evaluation = said or _without_tests(result, timed_out=timed_out)
    return (result.case_id, result.trial), kind, timed_out, evaluation


def _without_tests(result: CaseResult, *, timed_out: bool) -> EvalResult:
    """Return what stands for the tests of a result for which none ran."""
    status: EvalStatus = result.outcome
    if status == "failed" and timed_out:
        status = "timeout"
    return EvalResult(
        instance_id=result.case_id,
        status=status,
        resolved=result.outcome == "passed",
        error_message=result.message,
    )


def _summary(
    run_id: str, task_class: str, agent: str, counted: list[_Counted]
) -> RunSummary:
    kinds = [kind for _, kind, _, _ in counted]
    return RunSummary(
        run_id=run_id,
        dataset_name=task_class,
        agent_name=agent,
        total=len(counted),
        timeouts=sum(kind == "failed" and late for _, kind, late, _ in counted),
        results=tuple(evaluation for *_, evaluation in counted),
        **{name: kinds.count(name) for name in _COUNTS},
    )
