"""How a case of vuln-remediation is scored; ``README.md`` has the rules in prose."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping

from pytest_codegenie import BenchCase
from pytest_codegenie import BenchScore
from pytest_codegenie import EvalResult
from pytest_codegenie import FailureMode
from pytest_codegenie import HarnessOutput

from .breakdown_keys import BreakdownKey
from .change_scope import fit
from .change_scope import measure


#: The worst score of a hole that is closed, and the best of one that is not.
RESOLVED_FLOOR = 0.8
UNRESOLVED_CEILING = 0.45
#: How many tests a failure mode's detail names.
SHOWN_TESTS = 3


class VulnRemediationRubric:
    """A hole is closed when no exploit gets through and nothing else has changed.

    A false alarm is handled by leaving the tree alone. What is not known, because no
    test ran or there is no reference solution, is not in the breakdown.
    """

    def score(self, case: BenchCase, harness_output: HarnessOutput) -> BenchScore:
        """Score one case; the same arguments always give the same score."""
        evaluation = harness_output.evaluation
        breakdown = _shares(evaluation)
        if case.disposition == "negative":
            untouched = not harness_output.patch.strip()
            breakdown[BreakdownKey.CHANGE_SCOPE] = 1.0 if untouched else 0.0
            score, modes = _false_alarm(evaluation, untouched=untouched)
        else:
            scope = _scope(case, harness_output.patch)
            if scope is not None:
                breakdown[BreakdownKey.CHANGE_SCOPE] = scope
            score, modes = _remediation(evaluation, breakdown)
        return BenchScore(
            passed=not any(mode.severity == "block" for mode in modes),
            score=score,
            breakdown={key.value: value for key, value in breakdown.items()},
            failure_modes=tuple(modes),
            cost_usd=harness_output.agent.cost_usd or 0.0,
            wall_clock_ms=harness_output.agent.duration_seconds * 1000,
        )


def _remediation(
    evaluation: EvalResult | None, breakdown: Mapping[BreakdownKey, float]
) -> tuple[float, list[FailureMode]]:
    """Judge what was done about a hole that is there."""
    modes = _why_unresolved(evaluation)
    scope = breakdown.get(BreakdownKey.CHANGE_SCOPE, 1.0)
    if modes:
        # A product: a service that refuses everybody is safe, and worth nothing.
        blocked = breakdown.get(BreakdownKey.EXPLOIT_BLOCKED, 0.0)
        kept = breakdown.get(BreakdownKey.BEHAVIOUR_KEPT, 0.0)
        score = UNRESOLVED_CEILING * blocked * kept
    else:
        score = RESOLVED_FLOOR + (1.0 - RESOLVED_FLOOR) * scope
    if scope < 1.0:
        detail = f"change_scope is {scope:.2f}; compare with expected/gold.patch"
        modes.append(FailureMode(code="scope.sprawl", severity="warn", detail=detail))
    return score, modes


def _false_alarm(
    evaluation: EvalResult | None, *, untouched: bool
) -> tuple[float, list[FailureMode]]:
    """Judge what was done about a hole that is not there."""
    modes = [] if evaluation is None else _why_unresolved(evaluation)
    if not untouched:
        detail = "the report is a false alarm, the right patch is an empty one"
        modes.insert(0, _block("unneeded_change", detail))
    return 0.0 if modes else 1.0, modes


def _why_unresolved(evaluation: EvalResult | None) -> list[FailureMode]:
    """Return the reasons, each of which blocks; none if it is resolved."""
    if evaluation is None:
        return [_block("verdict.incomplete", "no test was run")]
    if evaluation.resolved:
        return []
    modes = []
    open_holes = _not_passed(evaluation.fail_to_pass_results)
    broken = _not_passed(evaluation.pass_to_pass_results)
    if open_holes:
        modes.append(_block("exploit.still_works", _enumerate(open_holes)))
    if broken:
        modes.append(_block("behaviour.broken", _enumerate(broken)))
    if not modes or evaluation.status != "failed":
        detail = evaluation.error_message or f"status {evaluation.status!r}"
        modes.append(_block("verdict.incomplete", detail))
    return modes


def _shares(evaluation: EvalResult | None) -> dict[BreakdownKey, float]:
    """Return which shares of the tests pass; nothing if there are no results."""
    if evaluation is None:
        return {}
    if not evaluation.fail_to_pass_results and not evaluation.pass_to_pass_results:
        return {}
    return {
        BreakdownKey.EXPLOIT_BLOCKED: evaluation.fail_to_pass_fraction,
        BreakdownKey.BEHAVIOUR_KEPT: evaluation.pass_to_pass_fraction,
    }


def _scope(case: BenchCase, patch: str) -> float | None:
    """Return how the patch fits the reference solution; None if there is none."""
    gold = case.expected_dir / "gold.patch"
    if not gold.is_file():
        return None
    # The bytes as they are: reading text would fold carriage returns.
    reference = gold.read_bytes().decode("utf-8", errors="replace")
    return fit(measure(patch), measure(reference))


def _not_passed(results: Mapping[str, str]) -> list[str]:
    return [test for test, status in results.items() if status != "passed"]


def _enumerate(tests: Iterable[str]) -> str:
    """Return the first few names, and how many more there are."""
    names = list(tests)
    shown = ", ".join(names[:SHOWN_TESTS])
    rest = len(names) - SHOWN_TESTS
    return f"{shown} and {rest} more" if rest > 0 else shown


def _block(code: str, detail: str) -> FailureMode:
    return FailureMode(code=code, severity="block", detail=detail)
