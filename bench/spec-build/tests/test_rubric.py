"""The rubric, tried on builds that are made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_codegenie import AgentOutput
from pytest_codegenie import BenchScore
from pytest_codegenie import EvalResult
from pytest_codegenie import HarnessOutput


ALL = {"prompts": 4, "completed": 4, "tries": 4, "retries": 0, "retries_allowed": 8}


def foundry(*, tries: tuple[int, ...] = (1, 1, 1, 1), **values: Any) -> dict[str, Any]:
    """Return what the harness tells of a build, complete where nothing else is said."""
    gates = {
        f"P-{number:03}": {"passed": True, "tries": count}
        for number, count in enumerate(tries, 1)
    }
    return ALL | {"rules_broken": 0, "ended": "complete", "gates": gates} | values


@pytest.fixture
def score(codegenie_rubric: Any, codegenie_make_case: Any) -> Any:
    """Return what scores a build: (what is told of it, tests that pass of four)."""

    def of(told: dict[str, Any] | None, passing: int = 4) -> BenchScore:
        case = codegenie_make_case()
        results = {f"t{n}": "passed" if n < passing else "failed" for n in range(4)}
        result: BenchScore = codegenie_rubric.score(
            case,
            HarnessOutput(
                agent=AgentOutput(
                    instance_id=case.case_id,
                    agent_name="test",
                    metadata={} if told is None else {"foundry": told},
                ),
                evaluation=EvalResult.model_validate(
                    {
                        "instance_id": case.case_id,
                        "status": "passed" if passing == 4 else "failed",
                        "fail_to_pass_results": results,
                        "resolved": passing == 4,
                    }
                ),
            ),
        )
        return result

    return of


def codes(result: BenchScore) -> list[str]:
    return [mode.code for mode in result.failure_modes]


def test_a_build_without_a_fault_is_worth_all(score: Any) -> None:
    result = score(foundry())
    assert (result.passed, result.score, codes(result)) == (True, 1.0, [])
    assert set(result.breakdown.values()) == {1.0}


def test_nothing_built_is_worth_nothing(score: Any) -> None:
    told = foundry(tries=(), completed=0, ended="retries")
    result = score(told | {"tries": 3, "retries": 2}, passing=0)
    assert (result.passed, result.score) == (False, 0.0)
    assert codes(result) == ["prompts.incomplete", "acceptance.failed", "retries.used"]


def test_retries_cost_a_part_and_no_pass(score: Any) -> None:
    result = score(foundry(tries=(1, 3, 1, 1)) | {"tries": 6, "retries": 2})
    assert result.passed
    assert result.score == pytest.approx(0.6 + 0.2 * 3 / 4 + 0.1 * 6 / 8 + 0.1)
    assert codes(result) == ["retries.used"]


def test_a_broken_rule_is_no_pass(score: Any) -> None:
    result = score(foundry(rules_broken=1) | {"tries": 5, "retries": 1})
    assert not result.passed
    assert result.breakdown["rules_kept"] == pytest.approx(0.8)
    assert "rules.broken" in codes(result)


def test_half_a_program_is_worth_its_part(score: Any) -> None:
    result = score(foundry(tries=(1, 1), completed=2, ended="retries"), passing=2)
    assert not result.passed
    assert result.score == pytest.approx(0.5 * (0.3 + 0.1 + 0.1 + 0.1))


def test_a_failing_acceptance_test_is_no_pass(score: Any) -> None:
    result = score(foundry(), passing=3)
    assert not result.passed
    assert codes(result) == ["acceptance.failed"]


def test_without_word_of_the_build_there_is_no_verdict(score: Any) -> None:
    result = score(None)
    assert (result.passed, result.score) == (False, 0.0)
    assert codes(result) == ["verdict.incomplete"]
