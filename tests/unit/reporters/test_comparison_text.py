"""A comparison as text: what a person reads, and what a program reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support_runs import result
from support_runs import store_run

from pytest_codegenie.evidence.pairing import RunComparison
from pytest_codegenie.evidence.pairing import compare_runs
from pytest_codegenie.evidence.pairing import read_groups
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.comparison import comparison_json
from pytest_codegenie.reporters.comparison import comparison_lines
from pytest_codegenie.reporters.comparison import comparison_markdown
from pytest_codegenie.reporters.comparison import comparison_text


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compared(
    before: Sequence[CaseResult], after: Sequence[CaseResult], **options: Any
) -> RunComparison:
    """Return a comparison of two runs with these results, in the working directory."""
    runs = [
        read_groups(store_run(Path(), results, run_id=name))
        for name, results in (("old", before), ("new", after))
    ]
    return compare_runs(*runs, **options)


def mixed() -> RunComparison:
    """Return a comparison in which everything is."""
    before = [
        *(result(case) for case in "abcd"),
        result("e", "failed", score=0.5),
        result("f", "error"),
        result("g", case_digest="before"),
        result("h", disposition="ambiguous"),
        result("z", agent="gone"),
    ]
    after = [
        *(result(case, "failed", score=0.25) for case in "ab"),
        *(result(case) for case in "cde"),
        result("f"),
        result("g"),
        result("h", disposition="ambiguous"),
    ]
    return compared(before, after, shortfalls=("", "not finished: 8 of 9 items"))


SHOWN = """\
before  run old, in runs/old
after   run new, in runs/new
        not finished: 8 of 9 items

demo [nop]
  compared     5 cases, 3 left out
  mean         0.900 before, 0.700 after
  passed       2 regressed, 1 improved, 2 unchanged; exact McNemar p = 1.000
  regressed    a, b
  improved     e
  left out     not judged before (errors): f
  left out     the case changed: its digests differ: g
  left out     ambiguous: reported, never counted: h
  before       1 of 8 results not judged (errors); 1 ambiguous, not counted
  after        1 ambiguous, not counted

only before: demo [gone]

Only cases that both sides judged, with equal digests, are compared. Errors and
ambiguous cases are in no figure.
"""


def test_a_terminal_shows_all_of_it_in_80_columns() -> None:
    lines = comparison_text(mixed()).splitlines()
    assert max(map(len, lines)) <= 80
    # How far the interval goes is for others to test.
    difference = lines.pop(lines.index("demo [nop]") + 3)
    assert difference.startswith("  difference   -0.200, 95% from -0.")
    assert difference.endswith(" (BCa bootstrap)")
    assert "\n".join(lines) + "\n" == SHOWN


def test_two_agents_are_both_named() -> None:
    results = [result("a"), result("a", "failed", agent="other")]
    run = read_groups(store_run(Path(), results))
    (one,) = compare_runs(run, run, agents=[("nop", "other")]).comparisons
    assert comparison_lines(one) == [
        "demo [nop] -> [other]",
        "  compared     1 case, 0 left out",
        "  mean         1.000 before, 0.000 after",
        "  difference   -1.000 (no interval: too few cases (1 of at least 3))",
        "  passed       1 regressed, 0 improved, 0 unchanged; exact McNemar p = 1.000",
        "  regressed    a",
    ]


def test_trials_that_disagree_are_flips() -> None:
    before = [result("a", trial=1), result("a", "failed", trial=2)]
    (one,) = compared(before, before).comparisons
    assert "  flipped      a" in comparison_lines(one)


def test_long_lists_end_where_that_is_asked_for() -> None:
    cases = [f"case-{number:03}" for number in range(50)]
    (one,) = compared(
        [result(case) for case in cases], [result(case, "failed") for case in cases]
    ).comparisons
    text = "\n".join(comparison_lines(one, 3))
    assert "  regressed    case-000, case-001, case-002, and 47 more" in text
    assert "exact McNemar p < 0.001" in text
    assert " case-049" in "\n".join(comparison_lines(one))


def test_nothing_that_a_record_holds_reaches_a_terminal_or_is_markup() -> None:
    evil = "\x1b[31m<img src=x>|`@octocat`"
    found = compared(
        [result("a", task_class=evil), result("b", task_class=evil)],
        [result("a", "failed", task_class=evil), result("b", task_class=evil)],
    )
    assert "\x1b" not in comparison_text(found)
    markdown = comparison_markdown(found)
    assert "\x1b" not in markdown
    assert "<img" not in markdown
    assert "@octocat" not in markdown
    assert json.loads(comparison_json(found))["comparisons"][0]["task_class"] == evil


def test_markdown_has_a_row_for_each_group_and_the_cases_below() -> None:
    text = comparison_markdown(mixed())
    lines = text.splitlines()
    assert lines[0] == (
        "### codegenie: run <code>old</code> compared with <code>new</code>"
    )
    head, rule, row = (line for line in lines if line.startswith("|"))
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert rule.count("---") == len(columns) == len(cells)
    values = dict(zip(columns, cells, strict=True))
    assert values.pop("95% interval").startswith("-0.")
    assert values == {
        "task class": "<code>demo</code>",
        "agent": "<code>nop</code>",
        "compared": "5 of 8",
        "mean before": "0.900",
        "mean after": "0.700",
        "difference": "-0.200",
        "regressed": "2",
        "improved": "1",
        "unchanged": "2",
        "McNemar p": "1.000",
        "errors": "1 before, 0 after",
        "ambiguous": "1 before, 1 after",
    }
    assert "**after: <code>not finished: 8 of 9 items</code>**" in lines
    assert "Only before: <code>demo &#91;gone&#93;</code>" in lines
    assert "- regressed: <code>a</code>, <code>b</code>" in lines


def test_markdown_lists_twenty_of_a_kind() -> None:
    cases = [f"case-{number:03}" for number in range(30)]
    text = comparison_markdown(
        compared([result(c) for c in cases], [result(c, "failed") for c in cases])
    )
    assert "<code>case-019</code>, and 10 more" in text
    assert "| &lt; 0.001 |" in text


def test_json_has_every_figure() -> None:
    values = json.loads(comparison_json(mixed()))
    assert values["unpaired"] == [
        {"task_class": "demo", "agent": "gone", "side": "before"}
    ]
    assert values["after"] == {
        "run_id": "new",
        "directory": "runs/new",
        "shortfall": "not finished: 8 of 9 items",
    }
    (one,) = values["comparisons"]
    assert one["regressed"] == ["a", "b"]
    assert one["mcnemar"] == {"only_before": 2, "only_after": 1, "p_value": 1.0}
    assert one["difference"]["low"] < -0.2 < one["difference"]["high"]
    assert (one["cases"], one["unchanged"], one["regression"]) == (5, 2, True)
