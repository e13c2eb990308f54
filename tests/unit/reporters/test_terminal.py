"""The summary under a session: what is in the figures, and what stands beside them."""

from __future__ import annotations

import json
from typing import Any

from support_runs import result

from pytest_codegenie.evidence import summarise
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.terminal import summary_lines


def lines(*results: CaseResult) -> list[str]:
    plain: list[dict[str, Any]] = [json.loads(one.to_json()) for one in results]
    return summary_lines(summarise(plain))


def test_errors_and_ambiguous_cases_stand_beside_the_figures() -> None:
    shown = lines(
        *(result(name) for name in "abc"),
        result("d", "error", mode="agent.error"),
        result("e", "failed", disposition="ambiguous"),
    )
    assert shown[:3] == [
        "demo [nop]",
        "  cases    3 of 3 passed; 1 not judged (errors); 1 ambiguous, not counted",
        "  score    mean 1.000  stddev 0.000  95% lower bound 0.368 (Clopper-Pearson)",
    ]
    assert "  block    agent.error x1" in shown
    assert not [line for line in shown if "pass@" in line]


def test_what_cannot_be_said_has_its_reason() -> None:
    _, _, *shown = lines(result("a"), result("b", "failed"))
    start = "  score    mean 0.500  stddev 0.707  95% lower bound n/a "
    assert shown[:2] == [f"{start}(too few cases (2 of at", "           least 3))"]


def test_trials_have_a_line_and_are_called_trials() -> None:
    shown = lines(
        *(result(name, trial=trial) for name in "ab" for trial in (1, 2)),
        result("c", trial=1),
        result("c", "failed", trial=2),
        result("d", trial=1),
        result("d", "error", trial=2),
    )
    assert shown[1] == (
        "  cases    6 of 7 trials of 4 cases passed; 1 not judged (errors)"
    )
    assert shown[3:5] == [
        "  trials   pass@1 0.875  pass@2 1.000  pass^2 0.667; 1 of 3 cases flip; at 2",
        "           without 1 case with fewer judged trials",
    ]


def test_trials_that_were_all_errors_give_no_figure() -> None:
    shown = lines(*(result("a", "error", trial=trial) for trial in (1, 2)))
    assert shown[1:4] == [
        "  cases    0 of 0 trials of 0 cases passed; 2 not judged (errors)",
        "  score    none: no case was judged",
        "  trials   pass@1 n/a  pass@2 n/a  pass^2 n/a; 0 of 0 cases flip",
    ]
