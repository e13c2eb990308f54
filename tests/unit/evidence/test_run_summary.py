"""The counts of a run as other tools know them."""

from __future__ import annotations

from itertools import permutations

from support_runs import result

from pytest_codegenie.evidence import make_summaries
from pytest_codegenie.models import EvalResult


def test_every_result_is_in_exactly_one_count_and_timeouts_are_failures() -> None:
    (summary,) = make_summaries(
        "r",
        [
            result("a", trial=1),
            result("a", "failed", trial=2),
            result("b", "failed", mode="agent.timeout"),
            result("c", "error", mode="agent.error"),
            result("d", disposition="ambiguous"),
            result("e", "failed", disposition="ambiguous", mode="agent.timeout"),
            result("f", "error", disposition="ambiguous"),
        ],
    )
    assert (summary.run_id, summary.dataset_name, summary.agent_name) == (
        *("r", "demo"),
        "nop",
    )
    assert (summary.total, summary.resolved, summary.failed) == (7, 1, 2)
    assert (summary.errors, summary.skipped, summary.timeouts) == (2, 2, 1)
    assert summary.resolve_rate == 1 / 3
    assert summary.to_dict()["resolve_rate"] == 1 / 3


def test_groups_and_results_are_sorted_however_they_came() -> None:
    results = [
        result("b", agent="y"),
        result("a", "failed", agent="y", trial=2, message="second"),
        result("a", "failed", agent="y", trial=1, message="first"),
        result("a", agent="x"),
        result("z", task_class="another"),
    ]
    wanted = make_summaries("r", results)
    assert [(s.dataset_name, s.agent_name) for s in wanted] == [
        ("another", "nop"),
        ("demo", "x"),
        ("demo", "y"),
    ]
    assert [one.error_message for one in wanted[2].results] == ["first", "second", ""]
    for order in permutations(results):
        assert make_summaries("r", order) == wanted


def test_what_the_tests_said_is_kept_and_where_none_ran_the_reason_is() -> None:
    said = EvalResult(
        instance_id="a",
        status="failed",
        fail_to_pass_results={"t": "failed"},
        duration_seconds=2.5,
    )
    (summary,) = make_summaries(
        "r",
        [
            result("a", "failed", evaluation=said),
            result("b", "failed", mode="agent.no_patch", message="nothing changed"),
            result("c", "failed", mode="agent.timeout", message="600 s"),
            result("d", "error", output=None, message="no disk"),
            result("e"),
        ],
    )
    assert summary.results[0] == said
    rest = [(r.status, r.resolved, r.error_message) for r in summary.results[1:]]
    assert rest == [
        ("failed", False, "nothing changed"),
        ("timeout", False, "600 s"),
        ("error", False, "no disk"),
        ("passed", True, ""),
    ]


def test_no_judged_result_gives_no_rate() -> None:
    (summary,) = make_summaries("r", [result("a", "error")])
    assert summary.resolve_rate is None
    assert make_summaries("r", []) == []
