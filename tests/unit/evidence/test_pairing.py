"""Which groups of two runs are compared, and what is said where none is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support_runs import result
from support_runs import store_run

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence.pairing import GroupKey
from pytest_codegenie.evidence.pairing import compare_runs
from pytest_codegenie.evidence.pairing import pair_groups
from pytest_codegenie.evidence.pairing import read_groups


A, B = GroupKey("one", "x"), GroupKey("two", "x")
C, D = GroupKey("one", "y"), GroupKey("two", "y")


def test_equal_groups_are_paired_and_others_named() -> None:
    found = pair_groups([B, A, C], [D, A, B])
    assert found.pairs == ((A, A), (B, B))
    assert [(str(one), one.side) for one in found.unpaired] == [
        ("one [y]", "before"),
        ("two [y]", "after"),
    ]


def test_agents_are_paired_as_named_in_every_task_class() -> None:
    found = pair_groups([A, B], [C, D], [("x", "y")])
    assert found.pairs == ((A, C), (B, D))
    assert found.unpaired == ()
    # Of agents that are not named nothing is said.
    found = pair_groups([A, B, C, D], [A, B, C], [("x", "y")])
    assert found.pairs == ((A, C),)
    assert [(str(one), one.side) for one in found.unpaired] == [("two [x]", "before")]


def test_one_agent_can_be_compared_with_several() -> None:
    z = GroupKey("one", "z")
    found = pair_groups([A], [C, z], [("x", "y"), ("x", "z")])
    assert found.pairs == ((A, C), (A, z))


def test_results_are_kept_without_what_agents_and_tests_printed(tmp_path: Path) -> None:
    run = store_run(tmp_path, [result("a", score=0.5), result("b", agent="other")])
    groups = read_groups(run).groups
    assert list(groups) == [GroupKey("demo", "nop"), GroupKey("demo", "other")]
    (kept,) = groups[GroupKey("demo", "nop")]
    assert kept == {
        "run_id": "example",
        "task_class": "demo",
        "agent": "nop",
        "case_id": "a",
        "trial": 1,
        "outcome": "passed",
        "disposition": "positive",
        "case_digest": "digest of a",
        "rubric_digest": "",
        "score": {"score": 0.5},
    }


@pytest.mark.parametrize("line", ["[]", "3", '{"task_class": "demo"}'])
def test_what_is_no_result_is_named(tmp_path: Path, line: str) -> None:
    run = store_run(tmp_path, [result("a")])
    with (run.directory / RESULTS).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(RunStoreError, match=r"results.jsonl: result 2 is none: "):
        read_groups(run)


def test_it_is_said_why_nothing_is_compared(tmp_path: Path) -> None:
    old = [result("a"), result("b"), result("c", "error"), result("d")]
    new = [
        result("a", case_digest="another"),
        result("b", case_digest="another"),
        result("c"),
        result("e"),
    ]
    groups = [
        read_groups(store_run(tmp_path, results, run_id=name))
        for name, results in (("old", old), ("new", new))
    ]
    found = compare_runs(*groups, shortfalls=("", "not finished: who knows"))
    assert found.cases == 0
    assert found.why_nothing == (
        "no case can be compared: the case changed: its digests differ (2); not judged "
        "before (errors) (1); only before (1); only after (1)"
    )
    values = json.loads(json.dumps(found.to_dict()))
    assert values["before"]["run_id"] == "old"
    assert values["after"]["shortfall"] == "not finished: who knows"
    assert values["comparisons"][0]["cases"] == 0
    assert compare_runs(groups[0], groups[0]).why_nothing == ""
