"""What a run came to, from its results alone."""

from __future__ import annotations

import datetime as dt
import json
from itertools import permutations
from statistics import fmean
from typing import Any

import pytest

from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import host_facts
from pytest_codegenie.evidence import make_report
from pytest_codegenie.evidence import summarise
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import BenchRunReport
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import FailureMode
from pytest_codegenie.models import HarnessOutput


NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)


def plain(
    case_id: str = "a",
    outcome: str = "passed",
    score: float | None = None,
    *,
    cost: float | None = None,
    modes: tuple[FailureMode, ...] = (),
    breakdown: dict[str, float] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A result as ``read_plain_results`` yields it."""
    passed = outcome == "passed"
    result = CaseResult.model_validate(
        {
            "run_id": "r",
            "case_id": case_id,
            "task_class": "demo",
            "case_digest": f"digest of {case_id}",
            "rubric_digest": "rubric",
            "disposition": "positive",
            "difficulty": "easy",
            "curation_class": "held-out",
            "agent": "nop",
            "agent_name": "nop",
            "trial": 1,
            "workspace": "host",
            "outcome": outcome,
            "score": BenchScore(
                passed=passed,
                score=float(passed) if score is None else score,
                breakdown=breakdown or {},
                failure_modes=modes,
            ),
            "output": HarnessOutput(
                agent=AgentOutput(instance_id=case_id, agent_name="nop", cost_usd=cost)
            ),
            "timings": {"agent": 1.0, "judge": 0.5},
            "started_at": NOW,
            "ended_at": NOW,
            "harness_version": "0",
        }
        | fields
    )
    loaded: dict[str, Any] = json.loads(result.to_json())
    return loaded


def only(*results: dict[str, Any]) -> Group:
    (group,) = summarise(results)
    return group


def block(code: str) -> tuple[FailureMode, ...]:
    return (FailureMode(code=code, severity="block"),)


def test_groups_are_task_classes_and_agents_by_name() -> None:
    groups = summarise(
        [
            plain(task_class="b", agent="y"),
            plain(task_class="b", agent="x"),
            plain(task_class="a", agent="z"),
            plain("b", task_class="b", agent="x"),
        ]
    )
    assert [(group.task_class, group.agent, group.passed) for group in groups] == [
        ("a", "z", 1),
        ("b", "x", 2),
        ("b", "y", 1),
    ]
    assert summarise([]) == []


def test_errors_and_ambiguous_cases_stand_beside_the_figures_never_in_them() -> None:
    group = only(
        plain("a", "passed"),
        plain("b", "failed", 0.5),
        plain("c", "error", modes=block("workspace.error"), output=None),
        plain("d", "passed", disposition="ambiguous", modes=block("odd")),
        plain("e", "failed", 0.0, disposition="ambiguous"),
        plain("f", "error", disposition="ambiguous"),
    )
    assert (group.passed, group.failed, group.errors, group.ambiguous) == (1, 1, 2, 2)
    assert group.scores == {"a": [1.0], "b": [0.5]}
    assert set(group.per_case) == {"a", "b"}
    assert set(group.digests) == {"a", "b", "c", "d", "e", "f"}
    assert group.failure_modes == {("workspace.error", "block"): 1}
    assert group.mean_score == 0.75
    assert group.seconds == 9.0


def test_nothing_judged_gives_none_never_zero() -> None:
    group = only(plain("a", "error"), plain("b", "failed", disposition="ambiguous"))
    assert group.mean_score is None
    assert group.score_stddev is None
    assert group.bound().value is None
    assert group.breakdown_means() == {}
    assert group.cost_usd is None
    one = only(plain("a", "passed"))
    assert (one.mean_score, one.score_stddev) == (1.0, None)


def test_trials_of_a_case_are_averaged_before_anything_is_counted_over_cases() -> None:
    results = [
        plain("b", "passed", 1.0),
        plain("a", "passed", 0.7, trial=1),
        plain("a", "failed", 0.1, trial=2),
        plain("a", "failed", 0.3, trial=3),
    ]
    group = only(*results)
    assert group.case_means == pytest.approx([1.1 / 3, 1.0])
    assert group.mean_score == pytest.approx((1.1 / 3 + 1) / 2)
    for order in permutations(results):
        assert only(*order).case_means == group.case_means
    assert set(group.per_case) == {"a", "a[t2]", "a[t3]", "b"}
    assert (group.passed, group.failed) == (2, 2)
    # Three trials of two cases are a sample of two.
    assert group.bound().note == "too few cases (2 of at least 3)"


def test_a_trial_is_never_taken_for_a_case_that_is_called_so() -> None:
    results = [
        plain("a", "passed", 0.9, trial=1),
        plain("a", "failed", 0.1, trial=2),
        plain("a-t2", "passed", 0.8, trial=1),
        plain("a-t2", "failed", 0.2, trial=2),
    ]
    for order in permutations(results):
        per_case = only(*order).per_case
        assert {name: score.score for name, score in per_case.items()} == {
            "a": 0.9,
            "a[t2]": 0.1,
            "a-t2": 0.8,
            "a-t2[t2]": 0.2,
        }


def test_the_bound_is_over_cases_not_over_trials() -> None:
    """Of trials that agree more are worth no more than one."""
    once = [plain(name, "passed") for name in "abcdefghij"]
    often = [one | {"trial": trial} for one in once for trial in range(1, 6)]
    assert only(*often).bound() == only(*once).bound()
    assert only(*once).bound().value == pytest.approx(0.7411, abs=5e-5)
    assert only(*once).trial_figures() is None


def test_several_trials_say_how_often_one_of_them_passes_and_how_often_all() -> None:
    group = only(
        plain("a", "passed", trial=1),
        plain("a", "failed", trial=2),
        plain("b", "passed", trial=1),
        plain("b", "passed", trial=2),
        plain("c", "failed", trial=1),
        plain("c", "error", trial=2),
        plain("d", "error", trial=1),
        plain("d", "error", trial=2),
        plain("e", "passed", trial=1, disposition="ambiguous"),
    )
    figures = group.trial_figures()
    assert figures is not None
    first, last = figures.at
    assert (first.k, first.cases, first.pass_at, first.pass_hat) == (1, 3, 0.5, 0.5)
    assert (last.k, last.cases, last.left_out) == (2, 2, 1)
    assert (last.pass_at, last.pass_hat) == (1.0, 0.5)
    assert (figures.repeated, figures.flipping) == (2, 1)


def test_trials_that_were_all_errors_are_still_trials() -> None:
    group = only(plain("a", "error", trial=1), plain("a", "error", trial=2))
    figures = group.trial_figures()
    assert figures is not None
    assert [(at.k, at.pass_at) for at in figures.at] == [(1, None), (2, None)]


def test_errors_of_ambiguous_cases_are_no_trials() -> None:
    unclear = [plain("b", "error", trial=n, disposition="ambiguous") for n in (1, 2)]
    assert only(plain("a"), *unclear).trial_figures() is None


def test_breakdown_keys_are_averaged_over_cases_not_over_trials() -> None:
    group = only(
        plain("a", breakdown={"fixed": 1.0}, trial=1),
        plain("a", breakdown={"fixed": 0.5}, trial=2),
        plain("b", breakdown={"fixed": 0.0}, trial=1),
        plain("b", "error", trial=2),
    )
    assert group.breakdown_means() == {"fixed": 0.375}


def test_breakdown_keys_are_averaged_over_the_cases_that_have_them() -> None:
    group = only(
        plain("a", breakdown={"fixed": 1.0, "kept": 0.5}),
        plain("b", breakdown={"fixed": 0.0}),
        plain("c", "error", breakdown={"fixed": 0.7}),
    )
    assert group.breakdown_means() == {"fixed": 0.5, "kept": 0.5}


def test_costs_are_those_that_agents_reported_and_unknown_is_not_zero() -> None:
    group = only(plain("a", cost=0.25), plain("b", cost=0.5), plain("c"))
    assert (group.cost_usd, group.unpriced) == (0.75, 1)
    free = only(plain("a", cost=0.0))
    assert (free.cost_usd, free.unpriced) == (0.0, 0)
    assert only(plain("a", output=None)).cost_usd is None


def test_tokens_are_those_that_agents_reported_and_unknown_is_not_zero() -> None:
    def with_tokens(case_id: str, tokens: int | None) -> dict[str, Any]:
        result = plain(case_id)
        result["output"]["agent"]["tokens_used"] = tokens
        return result

    group = only(with_tokens("a", 1200), with_tokens("b", 0), with_tokens("c", None))
    assert (group.tokens, group.unmetered, group.results) == (1200, 1, 3)
    silent = only(with_tokens("a", None), plain("b", output=None))
    assert (silent.tokens, silent.unmetered) == (None, 2)


def test_a_group_starts_with_its_first_and_ends_with_its_last_moment() -> None:
    """In JSON a moment without microseconds sorts after one with."""
    half = NOW + dt.timedelta(microseconds=500_000)
    late = NOW.astimezone(dt.timezone(dt.timedelta(hours=5)))
    group = only(
        plain("a", started_at=half, ended_at=half),
        plain("b", started_at=late, ended_at=late),
    )
    assert (group.started_at, group.ended_at) == (NOW, half)


def test_the_bound_is_seeded_by_what_was_run_and_by_nothing_else() -> None:
    scores = [0.11, 0.42, 0.53, 0.97, 0.385, 0.664, 0.81]
    results = [
        plain(name, "failed", score)
        for name, score in zip("abcdefg", scores, strict=True)
    ]
    bound = only(*results).bound()
    # And not computed again for the next report.
    assert bound is only(*reversed(results)).bound()
    assert bound.note == "BCa bootstrap"
    assert bound.value is not None
    assert bound.value < fmean(scores)
    other = only(*[result | {"case_digest": "changed"} for result in results]).bound()
    assert other.value != bound.value


def report(group: Group, **values: Any) -> BenchRunReport:
    arguments: dict[str, Any] = {
        "run_id": "r",
        "harness_version": "0.1",
        "agent_settings": {"name": "nop", "options": {"b": 1, "a": 2}},
        "complete": True,
    }
    return make_report(group, **(arguments | values))


def test_a_report_says_what_the_group_came_to() -> None:
    group = only(
        *(plain(name, cost=0.5) for name in "abc"),
        plain("d", "failed", modes=(*block("b.code"), *block("a.code"))),
        plain("e", "failed", 0.5, modes=(FailureMode(code="c", severity="warn"),)),
    )
    made = report(group)
    assert BenchRunReport.from_json(made.to_json()) == made
    assert (made.run_id, made.task_class, made.agent) == ("r", "demo", "nop")
    assert (made.passed_count, made.mean_score, made.total_cost_usd) == (3, 0.7, 1.5)
    assert made.score_stddev == group.score_stddev
    assert made.lower_bound_95 == group.bound().value
    assert made.block_severity_failure_modes == ("a.code", "b.code")
    assert made.per_case["d"].failure_modes[0].code == "b.code"
    assert (made.complete, made.isolation_class) == (True, "host")
    assert made.rubric_digest == "rubric"
    assert (made.started_at, made.ended_at) == (NOW, NOW)


@pytest.mark.parametrize(
    ("outcome", "complete", "expected"),
    [
        ("passed", True, True),
        ("passed", False, False),
        ("error", True, False),
        ("error", False, False),
    ],
)
def test_a_report_is_complete_when_every_selected_case_was_judged(
    outcome: str, complete: bool, expected: bool
) -> None:
    group = only(plain("a"), plain("b", outcome))
    assert report(group, complete=complete).complete is expected


def test_digests_change_with_what_they_are_of_and_with_nothing_else() -> None:
    group = only(plain("a"), plain("b"))
    one = report(group)
    same = report(
        only(plain("b"), plain("a")),
        agent_settings={"options": {"a": 2, "b": 1}, "name": "nop"},
    )
    assert (one.sut_digest, one.cassette_corpus_digest, one.host_fingerprint) == (
        same.sut_digest,
        same.cassette_corpus_digest,
        same.host_fingerprint,
    )
    assert report(group, agent_settings={"name": "nop"}).sut_digest != one.sut_digest
    changed = only(plain("a"), plain("b", case_digest="changed"))
    assert report(changed).cassette_corpus_digest != one.cassette_corpus_digest


def test_facts_of_the_host_are_text_that_is_not_empty() -> None:
    facts = host_facts()
    assert set(facts) == {"system", "release", "machine", "python", "implementation"}
    assert all(isinstance(value, str) and value for value in facts.values())


def test_what_no_agent_worked_on_is_counted_by_where_it_comes_from() -> None:
    group = only(
        plain("a", cost=1.0),
        plain("b", cost=0.25, provenance="verdict-cache"),
        plain("c", cost=0.5, provenance="patch-cache"),
        plain("d", "failed", cost=0.125, provenance="regraded"),
        plain("e", "error", provenance="verdict-cache"),
    )
    assert group.recalled == {"verdict-cache": 2, "patch-cache": 1, "regraded": 1}
    # All of it is what the agents cost; not all of it was spent now.
    assert (group.cost_usd, group.earlier_cost_usd) == (1.875, 0.875)
    old = plain("a")
    del old["provenance"]  # written by a version that knew no cache
    assert only(old).recalled == {}
