"""Does a case measure what it says? The oracle, the nop agent, and repetition tell."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from pytest_codegenie.corpus import Complaint
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.runner import run_case
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult


REPETITIONS = 3


def validate_case(case: BenchCase, make: Callable[[str], CaseJob]) -> list[Complaint]:
    """Run oracle and nop on a case, three times each, and say what is wrong with it.

    A positive case has to be solved by its gold patch and failed by doing nothing: all
    of its fail-to-pass tests fail on the base, all pass-to-pass tests pass there. A
    negative case has to be passed by doing nothing. Any case has to give the same
    result each time.

    Args:
        case: The case.
        make: From an agent's name to the job; empty patches are judged too.
    """
    complaints: list[Complaint] = []
    agents = ("nop",) if case.disposition == "negative" else ("oracle", "nop")
    for agent in agents:
        job = make(agent).model_copy(update={"judge_empty_patch": True})
        results = [run_case(job) for _ in range(REPETITIONS)]
        complaints += _complaints(case, agent, results)
    return complaints


def _complaints(
    case: BenchCase, agent: str, results: Sequence[CaseResult]
) -> Iterator[Complaint]:
    place = relative(case.directory)
    first = results[0]
    errors = [result for result in results if result.outcome == "error"]
    if errors:
        code = errors[0].score.failure_modes[0].code
        yield Complaint(
            place,
            f"cannot be judged with the agent {agent}: {code}: {errors[0].message}",
            "mend the case until it can",
        )
        return
    if len({_essence(result) for result in results}) > 1:
        yield Complaint(
            place,
            f"gives different results with the agent {agent} in {len(results)} "
            f"repetitions: {', '.join(result.outcome for result in results)}",
            "take what is random, timed or remembered out of its tests",
        )
    if case.disposition == "ambiguous":
        return
    if case.disposition == "negative" or agent == "oracle":
        if first.outcome != "passed":
            yield Complaint(
                place,
                f"the agent {agent} does not pass it: {first.message}",
                "mend expected/gold.patch or the tests"
                if agent == "oracle"
                else "a negative case has to pass as it is: mend its tests",
            )
        return
    if first.outcome == "passed":
        yield Complaint(
            place,
            "doing nothing passes it, though the case is positive",
            "add a fail-to-pass test that fails on the base",
        )
    evaluation = first.output.evaluation if first.output else None
    if evaluation is None:
        return
    wrong = [t for t, s in evaluation.fail_to_pass_results.items() if s == "passed"]
    wrong += [t for t, s in evaluation.pass_to_pass_results.items() if s != "passed"]
    if wrong:
        yield Complaint(
            place,
            f"on the base, {', '.join(wrong)} does not do what its list in "
            "expected/tests.toml says",
            "move it to the other list, or drop it",
        )


def _essence(result: CaseResult) -> tuple[object, ...]:
    """Return what has to be the same in each repetition."""
    evaluation = result.output.evaluation if result.output else None
    tests = (
        tuple(sorted(evaluation.fail_to_pass_results.items()))
        + tuple(sorted(evaluation.pass_to_pass_results.items()))
        if evaluation
        else ()
    )
    return result.outcome, result.score.score, tests
