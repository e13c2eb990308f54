"""How a case of spec-build is scored."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_codegenie import BenchCase
from pytest_codegenie import BenchScore
from pytest_codegenie import FailureMode
from pytest_codegenie import HarnessOutput

from .breakdown_keys import BreakdownKey


#: What each part is worth, of the share of the prompts that was completed.
WEIGHTS: Mapping[BreakdownKey, float] = {
    BreakdownKey.HIDDEN_TESTS: 0.6,
    BreakdownKey.GATES_PASSED: 0.2,
    BreakdownKey.RETRIES_LEFT: 0.1,
    BreakdownKey.RULES_KEPT: 0.1,
}


@dataclass(frozen=True)
class Build:
    """What the foundry observed of a build."""

    prompts: int
    completed: int
    tries: int
    retries: int
    retries_allowed: int
    rules_broken: int
    #: Prompts that passed every gate at the first try.
    passed_at_once: int
    #: Why it ended: ``complete``, or what stopped it.
    ended: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Build:
        """Read what the harness says of a build."""
        gates = told["gates"].values()
        return cls(
            prompts=told["prompts"],
            completed=told["completed"],
            tries=told["tries"],
            retries=told["retries"],
            retries_allowed=told["retries_allowed"],
            rules_broken=told["rules_broken"],
            passed_at_once=sum(gate["passed"] and gate["tries"] == 1 for gate in gates),
            ended=told["ended"],
        )


class SpecBuildRubric:
    """A program is worth what its hidden tests say, as far as it was built.

    Nothing completed is worth nothing. Retries, and gates that were not passed at
    once, cost a part; a rule that was broken means that the case is not passed.
    """

    def score(self, case: BenchCase, harness_output: HarnessOutput) -> BenchScore:
        """Score one case; ``README.md`` has the rules."""
        told = harness_output.agent.metadata.get("foundry")
        evaluation = harness_output.evaluation
        build = Build.of(told) if told else None
        hidden = evaluation.fail_to_pass_fraction if evaluation else 0.0
        breakdown = _breakdown(build, hidden) if build else {}
        resolved = evaluation is not None and evaluation.resolved
        done = breakdown.get(BreakdownKey.PROMPTS_COMPLETED, 0.0)
        worth = sum(weight * breakdown.get(key, 0) for key, weight in WEIGHTS.items())
        return BenchScore(
            passed=done == 1.0 and resolved and not (build and build.rules_broken),
            score=round(done * worth, 6),
            breakdown={key.value: value for key, value in breakdown.items()},
            failure_modes=tuple(_failure_modes(build, harness_output)),
            cost_usd=harness_output.agent.cost_usd or 0.0,
            wall_clock_ms=harness_output.agent.duration_seconds * 1000,
        )


def _breakdown(build: Build, hidden: float) -> dict[BreakdownKey, float]:
    return {
        BreakdownKey.PROMPTS_COMPLETED: build.completed / build.prompts,
        BreakdownKey.GATES_PASSED: build.passed_at_once / build.prompts,
        BreakdownKey.HIDDEN_TESTS: hidden,
        BreakdownKey.RETRIES_LEFT: _left(build.retries, build.retries_allowed),
        BreakdownKey.RULES_KEPT: _left(build.rules_broken, build.tries),
    }


def _left(used: int, of: int) -> float:
    """Return the share that is left; all of it where there was nothing to use."""
    return max(0.0, 1 - used / of) if of else 1.0


def _failure_modes(build: Build | None, output: HarnessOutput) -> Iterator[FailureMode]:
    if build is None or output.evaluation is None:
        yield FailureMode(code="verdict.incomplete", severity="block")
        return
    if build.completed < build.prompts:
        detail = f"{build.completed} of {build.prompts} prompts: {build.ended}"
        yield FailureMode(code="prompts.incomplete", severity="block", detail=detail)
    if not output.evaluation.resolved:
        results = output.evaluation.fail_to_pass_results
        failing = [test for test, status in results.items() if status != "passed"]
        detail = f"{len(failing)} of {len(results)} tests, such as {failing[:1]}"
        yield FailureMode(code="acceptance.failed", severity="block", detail=detail)
    if build.rules_broken:
        detail = f"in {build.rules_broken} of {build.tries} tries"
        yield FailureMode(code="rules.broken", severity="block", detail=detail)
    if build.retries:
        detail = f"{build.retries} of {build.retries_allowed} allowed"
        yield FailureMode(code="retries.used", severity="info", detail=detail)
