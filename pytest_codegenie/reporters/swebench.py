"""The reporter ``swebench-predictions``: patches, as SWE-bench's harness reads them.

The agent ``predictions`` reads them too, and its run has the same verdicts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.protocol import Form


#: Failure modes of an agent whose work was never taken.
_NOT_TAKEN = {"agent.timeout", "patch.does_not_apply"}


class PredictionsFault(CodegenieError):
    """There are no predictions to be had as asked; the reason says what there is."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is kept in mind of a result: its patch may be large."""

    case_id: str
    #: There is an answer: a patch, or that nothing is to be changed.
    handed_in: bool
    model: str | None
    redacted: bool


@dataclass(frozen=True, slots=True)
class Predictions:
    """The patches of one agent and trial of a run."""

    run: StoredRun
    agent: str
    trial: int
    #: What made all of them; the agent's label where that is unknown or differs.
    model: str
    #: What a reader of the file should know, a sentence each.
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield a line of JSON each, in the order in which the cases ended.

        Raises:
            RunStoreError: A result cannot be read.
        """
        for result in _results_of(self.run, self.agent, self.trial):
            if result.output is not None and _handed_in(result):
                yield json.dumps(
                    {
                        "instance_id": result.case_id,
                        "model_name_or_path": self.model,
                        "model_patch": result.output.patch,
                    }
                )


class SwebenchPredictionsReporter:
    """A line for each case: ``instance_id``, ``model_name_or_path``, ``model_patch``.

    SWE-bench takes one patch a case: so the first trial's, of a run with one agent.
    ``codegenie export`` has options for others. A case for which the agent handed
    nothing in is left out; where it changed nothing, the patch is "".
    """

    name = "swebench-predictions"
    suffix = "predictions.jsonl"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield a line for each case."""
        for line in find_predictions(run).lines():
            yield f"{line}\n"


def find_predictions(
    run: StoredRun, *, agent: str | None = None, trial: int = 1
) -> Predictions:
    """Return the patches of one agent and trial.

    Args:
        run: Where they are recorded.
        agent: Its label; None: the run's only one.
        trial: 1-based.

    Raises:
        PredictionsFault: There is no such agent or trial, or which is not clear.
        RunStoreError: A result cannot be read.
    """
    agent = _choose_agent(run, agent)
    answers = [_answer(result) for result in _results_of(run, agent, trial)]
    if not answers:
        trials = {result.trial for result in run.results() if result.agent == agent}
        raise PredictionsFault(
            f"agent {agent!r} has no result of trial {trial} in this run; trials with "
            f"one: {', '.join(map(str, sorted(trials)))}"
        )
    _refuse_twice(answers)
    # One name for all: SWE-bench takes it for the name of the whole.
    models = {answer.model for answer in answers if answer.handed_in}
    model = models.pop() if len(models) == 1 else None
    return Predictions(run, agent, trial, model or agent, tuple(_notes(answers)))


def _results_of(run: StoredRun, agent: str, trial: int) -> Iterator[CaseResult]:
    return (one for one in run.results() if (one.agent, one.trial) == (agent, trial))


def _choose_agent(run: StoredRun, agent: str | None) -> str:
    labels = sorted({result.agent for result in run.results()})
    known = ", ".join(labels)
    if not labels:
        raise PredictionsFault("the run has no result, so there are no predictions")
    if agent is None and len(labels) > 1:
        raise PredictionsFault(
            f"the run has results of several agents ({known}), and predictions are of "
            "one: codegenie export RUN --format swebench-predictions --agent LABEL"
        )
    if agent is not None and agent not in labels:
        raise PredictionsFault(
            f"there is no result of agent {agent!r}{did_you_mean(agent, labels)}; "
            f"agents with one: {known}"
        )
    return agent or labels[0]


def _answer(result: CaseResult) -> _Answer:
    agent = result.output.agent if result.output else None
    return _Answer(
        case_id=result.case_id,
        handed_in=_handed_in(result),
        model=agent.model_name if agent else None,
        redacted=bool(agent and agent.metadata.get("patch_redacted")),
    )


def _handed_in(result: CaseResult) -> bool:
    if result.output is None:
        return False
    if result.output.patch:
        return True
    if result.outcome == "error":
        return False
    # Nothing is the wrong answer to a positive case, whyever it was given.
    codes = {mode.code for mode in result.score.failure_modes}
    return result.disposition == "positive" or not codes & _NOT_TAKEN


def _refuse_twice(answers: Sequence[_Answer]) -> None:
    counts = Counter(answer.case_id for answer in answers)
    for case_id, count in counts.items():
        if count > 1:
            # Each worker ran it, under --dist each.
            raise PredictionsFault(
                f"case {case_id!r} has {count} results of one trial, and predictions "
                "have one a case"
            )


def _notes(answers: Sequence[_Answer]) -> Iterator[str]:
    left_out = sorted(one.case_id for one in answers if not one.handed_in)
    if left_out:
        yield f"left out, as the agent handed nothing in: {', '.join(left_out)}"
    redacted = sorted(one.case_id for one in answers if one.redacted)
    if redacted:
        yield (
            "not what was judged, as secrets were taken out of the patch: "
            f"{', '.join(redacted)}"
        )
