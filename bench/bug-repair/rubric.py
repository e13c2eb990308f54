"""How a case of bug-repair is scored."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping

from pytest_codegenie import BenchCase
from pytest_codegenie import BenchScore
from pytest_codegenie import EvalResult
from pytest_codegenie import FailureMode
from pytest_codegenie import HarnessOutput

from .breakdown_keys import BreakdownKey
from .scope import measure_scope


#: What a repair is worth at least, however far it sprawls.
SPRAWL_FLOOR = 0.8
#: What an attempt that is no repair is worth at most.
UNRESOLVED_CEILING = 0.49
#: So many tests are named in the detail of a failure mode.
NAMED_TESTS = 3


class BugRepairRubric:
    """A repair is worth 0.8 to 1.0 by its scope, a failed attempt less than half.

    Where the report is mistaken, only the unchanged tree is worth anything. What is
    not known (nothing was evaluated, there is no reference solution) is left out of
    the breakdown.
    """

    def score(self, case: BenchCase, harness_output: HarnessOutput) -> BenchScore:
        """Score one case; ``README.md`` has the rules."""
        judge = _judge_restraint if case.disposition == "negative" else _judge_repair
        passed, score, scope, failure_modes = judge(case, harness_output)
        breakdown = _test_fractions(harness_output.evaluation)
        if scope is not None:
            breakdown[BreakdownKey.SCOPE] = scope
        return BenchScore(
            passed=passed,
            score=score,
            breakdown={key.value: value for key, value in breakdown.items()},
            failure_modes=failure_modes,
            cost_usd=harness_output.agent.cost_usd or 0.0,
            wall_clock_ms=harness_output.agent.duration_seconds * 1000,
        )


#: Passed, score, scope (None: nothing to measure it by) and failure modes.
_Verdict = tuple[bool, float, float | None, tuple[FailureMode, ...]]


def _judge_repair(case: BenchCase, output: HarnessOutput) -> _Verdict:
    """Judge by the tests first, among repairs by the scope."""
    evaluation = output.evaluation
    scope = _scope_of(case, output.patch)
    sprawl = (_sprawl(scope),) if scope is not None and scope < 1 else ()
    if evaluation is not None and evaluation.resolved:
        return True, _score_of_repair(scope), scope, sprawl
    reasons = tuple(_why_unresolved(evaluation))
    return False, _score_of_attempt(evaluation), scope, reasons + sprawl


def _judge_restraint(case: BenchCase, output: HarnessOutput) -> _Verdict:
    """Judge a negative case: the tree must be as it was."""
    evaluation = output.evaluation
    unresolved = evaluation is not None and not evaluation.resolved
    reasons = tuple(_why_unresolved(evaluation)) if unresolved else ()
    if output.patch.strip():
        detail = "the report is mistaken: the right answer is an empty patch"
        return False, 0.0, 0.0, (_block("unneeded_change", detail), *reasons)
    score = _score_of_attempt(evaluation) if unresolved else 1.0
    return not unresolved, score, 1.0, reasons


def _score_of_repair(scope: float | None) -> float:
    if scope is None:
        return 1.0
    return SPRAWL_FLOOR + (1 - SPRAWL_FLOOR) * scope


def _score_of_attempt(evaluation: EvalResult | None) -> float:
    """Return what an attempt that did not succeed is worth.

    The product: neither doing nothing nor breaking everything else is halfway there.
    """
    fractions = _test_fractions(evaluation)
    fixed = fractions.get(BreakdownKey.FAIL_TO_PASS, 0.0)
    kept = fractions.get(BreakdownKey.PASS_TO_PASS, 0.0)
    return UNRESOLVED_CEILING * fixed * kept


def _test_fractions(evaluation: EvalResult | None) -> dict[BreakdownKey, float]:
    """Return the shares of passed tests, nothing if no test ran."""
    if evaluation is None or not (
        evaluation.fail_to_pass_results or evaluation.pass_to_pass_results
    ):
        return {}
    return {
        BreakdownKey.FAIL_TO_PASS: evaluation.fail_to_pass_fraction,
        BreakdownKey.PASS_TO_PASS: evaluation.pass_to_pass_fraction,
    }


def _why_unresolved(evaluation: EvalResult | None) -> Iterator[FailureMode]:
    """Yield at least one reason."""
    if evaluation is None:
        yield _block("tests.incomplete", "nothing was evaluated")
        return
    still_failing = _not_passed(evaluation.fail_to_pass_results)
    broken = _not_passed(evaluation.pass_to_pass_results)
    if still_failing:
        yield _block("tests.still_failing", still_failing)
    if broken:
        yield _block("tests.broken", broken)
    if evaluation.status != "failed" or not (still_failing or broken):
        detail = evaluation.error_message or f"the evaluation is {evaluation.status!r}"
        yield _block("tests.incomplete", detail)


def _not_passed(results: Mapping[str, str]) -> str:
    """Return how many tests did not pass, and the first of them; "" if all did."""
    names = [name for name, status in results.items() if status != "passed"]
    if not names:
        return ""
    named = ", ".join(names[:NAMED_TESTS])
    more = ", ..." if len(names) > NAMED_TESTS else ""
    return f"{len(names)} of {len(results)}: {named}{more}"


def _scope_of(case: BenchCase, patch: str) -> float | None:
    """Return the scope of a patch, None without a reference solution."""
    reference = case.expected_dir / "gold.patch"
    if not reference.is_file():
        return None
    # As bytes: a diff may hold other encodings and carriage returns.
    return measure_scope(patch, reference.read_bytes().decode(errors="replace"))


def _sprawl(scope: float) -> FailureMode:
    return FailureMode(
        code="scope.sprawl",
        severity="warn",
        detail=f"scope {scope:.2f}: much larger than the reference solution",
    )


def _block(code: str, detail: str) -> FailureMode:
    return FailureMode(code=code, severity="block", detail=detail)
