"""Gates: what is met, what is not, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support_runs import result
from support_runs import store_run

from pytest_codegenie.config import RequiredBound
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence.gates import GateVerdict
from pytest_codegenie.evidence.gates import all_met
from pytest_codegenie.evidence.gates import exact_enough
from pytest_codegenie.evidence.gates import judge_bounds
from pytest_codegenie.evidence.gates import judge_regressions
from pytest_codegenie.evidence.pairing import RunComparison
from pytest_codegenie.evidence.pairing import compare_runs
from pytest_codegenie.evidence.pairing import read_groups
from pytest_codegenie.models import CaseResult


def group(
    passed: int,
    failed: int = 0,
    errors: int = 0,
    *,
    name: str = "demo",
    agent: str = "a",
) -> Group:
    """Return a group of scores of 0 and 1."""
    scores = {f"p{n}": [1.0] for n in range(passed)}
    scores |= {f"f{n}": [0.0] for n in range(failed)}
    return Group(
        name, agent, passed=passed, failed=failed, errors=errors, scores=scores
    )


def bounds(
    *required: RequiredBound, of: Sequence[Group], unfinished: str = ""
) -> list[str]:
    """Return what is said."""
    return [str(one) for one in judge_bounds(required, of, unfinished)]


ANY = RequiredBound(at_least=0.5)
DEMO = RequiredBound(task_class="demo", at_least=0.75)


def test_a_bound_that_is_reached_and_one_that_is_not() -> None:
    # Clopper-Pearson: 0.05 ** (1 / 12) and so on.
    assert bounds(DEMO, of=[group(12)]) == [
        "gate met: demo [a]: 95% lower bound 0.779 (Clopper-Pearson) reaches 0.75; "
        "12 of 12 passed"
    ]
    assert bounds(DEMO, of=[group(11, 1)]) == [
        "gate not met: demo [a]: 95% lower bound 0.661 (Clopper-Pearson) is below "
        "0.75; 11 of 12 passed"
    ]


def test_each_agent_has_to_reach_it() -> None:
    said = bounds(ANY, of=[group(12), group(0, 12, agent="b"), group(9, name="other")])
    assert [text.partition(": 95%")[0] for text in said] == [
        "gate met: demo [a]",
        "gate not met: demo [b]",
        "gate met: other [a]",
    ]


def test_a_task_class_with_a_bound_of_its_own_has_that_alone() -> None:
    said = bounds(ANY, DEMO, of=[group(9), group(9, name="other")])
    assert [text.partition("(")[0] for text in said] == [
        "gate met: other [a]: 95% lower bound 0.717 ",
        "gate not met: demo [a]: 95% lower bound 0.717 ",
    ]


def test_too_little_data_is_not_met_even_of_0() -> None:
    nothing = RequiredBound(at_least=0)
    assert bounds(nothing, of=[group(2)]) == [
        "gate not met: demo [a]: no 95% lower bound (too few cases (2 of at least 3)), "
        "0 is required; 2 of 2 passed"
    ]
    assert bounds(nothing, of=[group(3)])[0].startswith("gate met")
    assert bounds(nothing, of=[group(0, 3)])[0].startswith("gate met")


def test_a_task_class_that_was_not_run_is_not_met() -> None:
    wrong = RequiredBound(task_class="demmo", at_least=0.5)
    assert bounds(wrong, of=[group(9)]) == [
        "gate not met: demmo: no case has a result, 0.5 is required (did you mean "
        "'demo'?)"
    ]
    assert bounds(ANY, of=[]) == ["gate not met: no case has a result, 0.5 is required"]
    # Here it has nothing to say: all that was run has a bound of its own.
    assert len(bounds(ANY, DEMO, of=[group(9)])) == 1


def test_errors_stand_beside_and_a_run_that_ended_early_is_not_met() -> None:
    said = bounds(DEMO, of=[group(12, errors=2)])
    assert said[0].endswith("12 of 12 passed, 2 not judged (errors)")
    assert said[0].startswith("gate met")
    said = bounds(DEMO, of=[group(12)], unfinished="ended early: 1 of 13 not run (x)")
    assert said[0].startswith("gate not met: demo [a]: 95% lower bound 0.779 ")
    assert said[0].endswith("12 of 12 passed; ended early: 1 of 13 not run (x)")


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (0.7794, 0.75, "0.779"),
        (0.7999, 0.8, "0.7999"),  # 0.800 would look as if it were reached
        (0.79999999, 0.8, "0.79999999"),
        (0.8, 0.8, "0.800"),
        (0.7504, 0.7502, "0.7504"),  # 0.750 would look as if it were not
        (0.0, 0.0, "0.000"),
        (0.1 + 0.2, 0.3, "0.300"),
    ],
)
def test_what_is_shown_is_on_the_same_side_of_the_limit(
    value: float, limit: float, shown: str
) -> None:
    assert exact_enough(value, limit) == shown


# -- regressions -----------------------------------------------------------------


def compared(
    out: Path, before: Sequence[CaseResult], after: Sequence[CaseResult]
) -> RunComparison:
    """Return a comparison of two runs with these results."""
    runs = [
        read_groups(store_run(out, results, run_id=name))
        for name, results in (("old", before), ("new", after))
    ]
    return compare_runs(*runs)


def regressions(
    out: Path, before: Sequence[CaseResult], after: Sequence[CaseResult]
) -> list[GateVerdict]:
    return list(judge_regressions(compared(out, before, after)))


def test_a_case_that_regressed_is_named(tmp_path: Path) -> None:
    (verdict,) = regressions(
        tmp_path,
        [result("a"), result("b"), result("c", "failed")],
        [result("a", "failed"), result("b"), result("c")],
    )
    assert str(verdict) == (
        "gate not met: demo [nop]: compared with run old: 1 of 3 cases regressed (a)"
    )


def test_cases_that_failed_before_may_fail(tmp_path: Path) -> None:
    results = [result("a"), result("b", "failed")]
    (verdict,) = regressions(tmp_path, results, [*results, result("new", "failed")])
    assert str(verdict) == (
        "gate met: demo [nop]: compared with run old: 0 of 2 cases regressed; 1 not "
        "compared"
    )


def test_nothing_in_common_is_not_met(tmp_path: Path) -> None:
    (verdict,) = regressions(tmp_path, [result("a")], [result("a", agent="other")])
    assert str(verdict) == (
        "gate not met: nothing compared with run old: they have no task class and "
        "agent in common: before has demo [nop], after has demo [other]"
    )


def test_no_case_in_common_is_not_met_though_another_group_is(tmp_path: Path) -> None:
    both = [result("a"), result("b", task_class="more")]
    changed = [result("a", case_digest="another"), result("b", task_class="more")]
    verdicts = regressions(tmp_path, both, changed)
    assert [str(verdict) for verdict in verdicts] == [
        "gate not met: demo [nop]: compared with run old: no case can be compared: the "
        "case changed: its digests differ (1)",
        "gate met: more [nop]: compared with run old: 0 of 1 cases regressed",
    ]
    assert not all_met(verdicts)


def test_a_group_that_only_one_side_has_decides_nothing(tmp_path: Path) -> None:
    old = [result("a"), result("b", task_class="gone")]
    new = [result("a"), result("c", "failed", task_class="fresh")]
    verdicts = regressions(tmp_path, old, new)
    assert [(verdict.task_class, verdict.met) for verdict in verdicts] == [
        ("demo", True)
    ]


def test_what_could_not_be_judged_may_have_regressed(tmp_path: Path) -> None:
    (verdict,) = regressions(
        tmp_path, [result("a"), result("b")], [result("a"), result("b", "error")]
    )
    assert str(verdict) == (
        "gate not met: demo [nop]: compared with run old: 0 of 1 cases regressed; 1 "
        "not compared; 1 not judged (errors): it cannot be told"
    )


def test_a_run_that_ended_early_is_not_met(tmp_path: Path) -> None:
    both = [result("a"), result("b")]
    found = compared(tmp_path, both, both)
    (verdict,) = judge_regressions(found, "ended early: 1 of 3 not run (c[nop])")
    assert not verdict.met
    assert verdict.text.endswith(
        "0 of 2 cases regressed; ended early: 1 of 3 not run (c[nop])"
    )
