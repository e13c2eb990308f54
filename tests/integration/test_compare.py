"""``codegenie compare``: two runs, or two agents of one."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support_runs import NOW
from support_runs import result
from support_runs import store_run

from pytest_codegenie.cli import main
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.models import CaseResult


BEFORE = [
    *(result(case) for case in "abcd"),
    result("e", "failed"),
    *(result(case, "failed", agent="other") for case in "abcde"),
    result("m", task_class="more"),
]
AFTER = [
    *(result(case) for case in "abc"),
    *(result(case, "failed") for case in "de"),
    result("m", task_class="more"),
]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in the working directory, with a run ``old`` and a run ``new``."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / ".codegenie"
    store_run(out, BEFORE, run_id="old")
    store_run(out, AFTER, run_id="new", started_at=NOW + dt.timedelta(days=1))
    return out


Printed = pytest.CaptureFixture[str]


def compared(capsys: Printed, *arguments: str) -> list[tuple[str, str, list[str]]]:
    """Return (task class, agents, regressed) of each group, as JSON has them."""
    assert main(["compare", *arguments, "--format", "json"]) == 0
    values = json.loads(capsys.readouterr().out)
    return [
        (
            one["task_class"],
            f"{one['before']['agent']}={one['after']['agent']}",
            one["regressed"],
        )
        for one in values["comparisons"]
    ]


def refused(capsys: Printed, *arguments: str, code: int = 4) -> str:
    """Return what the command says when it ends in this exit code."""
    assert main(["compare", *arguments]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.strip().removeprefix("codegenie: ")


def test_each_group_that_both_runs_have_is_compared(capsys: Printed) -> None:
    assert main(["compare", "old", "new"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert printed.err == ""
    assert lines[:2] == [
        "before  run old, in .codegenie/runs/old",
        "after   run new, in .codegenie/runs/new",
    ]
    assert [line for line in lines if line.endswith("[nop]")] == [
        "demo [nop]",
        "more [nop]",
    ]
    assert "  regressed    d" in lines
    assert "only before: demo [other]" in lines


def test_runs_are_named_as_everywhere(store: Path, capsys: Printed) -> None:
    whole = [("demo", "nop=nop", ["d"]), ("more", "nop=nop", [])]
    assert compared(capsys, "old", "latest") == whole
    assert compared(capsys, str(store / "runs/old"), ".codegenie/runs/new") == whole
    store.rename(store.with_name("kept"))
    assert compared(capsys, "old", "new", "--out", "kept") == whole


def test_agents_and_task_classes_can_be_chosen(capsys: Printed) -> None:
    demo = ("--task-class", "demo")
    assert compared(capsys, "old", "new", *demo) == [("demo", "nop=nop", ["d"])]
    assert compared(capsys, "old", "new", "--agent=nop", *demo) == [
        ("demo", "nop=nop", ["d"])
    ]
    assert compared(capsys, "new", "old", "--agent=nop=other") == [
        ("demo", "nop=other", ["a", "b", "c"])
    ]
    two = compared(capsys, "old", "--agent", "nop=other", "--agent", "other=nop")
    assert two == [
        ("demo", "nop=other", ["a", "b", "c", "d"]),
        ("demo", "other=nop", []),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["old", "nwe"],
            "there is no run 'nwe' in .codegenie/runs (did you mean 'new'?)",
        ),
        (["./nowhere", "new"], "there is no directory ./nowhere"),
        (["old"], "there is one run to compare: name a second, or two agents of the "),
        (["old", "--agent=nop"], "both sides are run 'old', with the same agent: name"),
        (["old", "old"], "both sides are run 'old', with the same agent: name another"),
        (
            ["old", "new", "--agent=opn"],
            "there is no agent 'opn' in run old (did you mean 'nop'?); there: nop, ",
        ),
        (
            ["old", "new", "--agent=nop=other"],
            "there is no agent 'other' in run new; there: nop",
        ),
        (
            ["old", "new", "--task-class=dmeo"],
            "there is no task class 'dmeo' in run old (did you mean 'demo'?); there: "
            "demo, more",
        ),
        (["old", "new", "--output=no/where"], "--output: there is no directory no"),
        (["old", "new", "--out=nowhere"], "there is no run 'old' in nowhere/runs"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: list[str], message: str, capsys: Printed
) -> None:
    assert refused(capsys, *arguments).startswith(message)


@pytest.mark.parametrize("agent", ["=nop", "nop=", ""])
def test_a_wrong_pair_of_agents_is_a_usage_error(agent: str, capsys: Printed) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", "old", "new", f"--agent={agent}"])
    assert ended.value.code == 4
    said = capsys.readouterr().err
    assert f"must be LABEL or LABEL=LABEL, before and after, got {agent!r}" in said


def test_nothing_to_compare_is_an_error_that_says_why(
    store: Path, capsys: Printed
) -> None:
    store_run(store, [result("a", agent="mine")], run_id="mine")
    assert refused(capsys, "mine", "new", code=1) == (
        "mine and new: they have no task class and agent in common: before has demo "
        "[mine], after has demo [nop], more [nop]; to compare agents of different "
        "labels: --agent mine=nop"
    )
    store_run(store, [result("a", case_digest="x")], run_id="signed-anew")
    assert refused(capsys, "signed-anew", "new", "--task-class=demo", code=1) == (
        "signed-anew and new: no case can be compared: only after (4); the case "
        "changed: its digests differ (1)"
    )
    store_run(store, [], run_id="empty", selected=["a[nop]"])
    assert refused(capsys, "old", "empty", code=1) == (
        ".codegenie/runs/empty/results.jsonl: no case of this run has a result (1 were "
        "to run): there is nothing to compare"
    )


def test_a_run_that_was_cut_off_is_compared_as_far_as_it_goes(
    store: Path, capsys: Printed
) -> None:
    path = store / "runs/new" / RESULTS
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:2], whole[2][:40]]))
    assert main(["compare", "old", "new", "--task-class=demo"]) == 0
    printed = capsys.readouterr()
    assert "  compared     2 cases, 3 left out\n" in printed.out
    assert "        not finished: 2 of 6 items have a result; " in printed.out
    assert "  left out     only before: c, d, e\n" in printed.out
    assert (
        "new/results.jsonl: the last line was cut off and is not in the compariso"
        in (printed.err)
    )
    # Whether one of the others regressed cannot be told.
    gate = ["--task-class=demo", "--fail-on-regression"]
    assert main(["compare", "old", "new", *gate]) == 10
    assert capsys.readouterr().err.splitlines()[-1] == (
        "codegenie: gate not met: demo [nop]: compared with run old: 0 of 2 cases "
        "regressed; 3 not compared; the run is not finished"
    )


GOOD = [result(case) for case in "ab"]


@pytest.mark.parametrize(
    ("before", "after", "code", "said"),
    [
        (GOOD, GOOD, 0, "gate met: demo [nop]: compared with run a: 0 of 2"),
        (GOOD, [GOOD[0], result("b", "failed")], 10, "gate not met: demo [nop]: comp"),
        ([GOOD[0], result("b", "failed")], GOOD, 0, "gate met: "),
        (GOOD, [GOOD[0], result("b", "error")], 10, "it cannot be told"),
        (GOOD, [GOOD[0], result("b", case_digest="x")], 0, "1 not compared"),
    ],
    ids=["same", "regressed", "improved", "error", "changed"],
)
def test_a_regression_is_10_where_that_is_asked_for(
    store: Path,
    capsys: Printed,
    before: Sequence[CaseResult],
    after: Sequence[CaseResult],
    code: int,
    said: str,
) -> None:
    store_run(store, before, run_id="a")
    store_run(store, after, run_id="b")
    assert main(["compare", "a", "b"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["compare", "a", "b", "--fail-on-regression"]) == code
    assert said in capsys.readouterr().err


def test_it_can_be_written_to_a_file(store: Path, capsys: Printed) -> None:
    path = store / "comparison.md"
    arguments = ["compare", "old", "new", "--format=markdown", "--output", str(path)]
    assert main(arguments) == 0
    assert capsys.readouterr().out == ""
    assert path.read_text("utf-8").startswith("### codegenie: run <code>old</code>")
