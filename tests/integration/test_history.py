"""``codegenie history`` and ``codegenie runs``: what a store has, over time."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import pytest

# pytester forgets what a session imports that it runs, and NumPy refuses to be imported
# a second time: then there would be no lower bound.
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from support_runs import NOW
from support_runs import result
from support_runs import store_run

from pytest_codegenie.cli import main
from pytest_codegenie.evidence import RUN
from pytest_codegenie.models import CaseResult


Printed = pytest.CaptureFixture[str]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store in the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".codegenie"


def run_on(store: Path, day: int, *results: CaseResult, **options: Any) -> None:
    """Store a run ``run-<day>`` that began on that day."""
    started_at = NOW + dt.timedelta(days=day)
    store_run(store, results, run_id=f"run-{day}", started_at=started_at, **options)


def three_runs(store: Path) -> None:
    """Store a run, one with another rubric, and one that was cut off."""
    run_on(store, 1, *(result(case, cost=0.25) for case in "abc"))
    changed = [result(case, rubric_digest="new") for case in "ab"]
    run_on(store, 2, *changed, result("c", "failed", rubric_digest="new"))
    cut = [result("a", agent="other"), result("b", "error", agent="other")]
    run_on(store, 3, *cut, selected=[f"{case}[other]" for case in "abc"])


def test_history_shows_each_run_and_what_changed(store: Path, capsys: Printed) -> None:
    three_runs(store)
    run_on(store, 4, result("x", task_class="unlike"), selected=[])
    assert main(["history", "demo"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out == (
        "run    begun             agent  cases  passed  errors   mean  lower bound  "
        "complete    changed\n"
        "run-1  2026-11-22 12:00  nop        3  3 of 3       0  1.000        0.368  "
        "yes\n"
        "run-2  2026-11-23 12:00  nop        3  2 of 3       0  0.667        0.135  "
        "yes         rubric\n"
        "run-3  2026-11-24 12:00  other      1  1 of 1       1  1.000          n/a  "
        "no: 2 of 3\n"
        "Lower bound: of the mean, 95%. Changed: what differs from the run before of "
        "the\nsame agent.\n"
    )


def test_history_can_be_cut_and_read_by_programs(store: Path, capsys: Printed) -> None:
    three_runs(store)
    assert main(["history", "demo", "--agent=nop", "--limit=1", "--format=json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    # Though the run before is not shown.
    assert (one["run_id"], one["changed"]) == ("run-2", ["rubric"])
    assert one["made_of"]["rubric"] == "new"
    assert one["lower_bound_95"] == pytest.approx(0.1353, abs=1e-4)
    assert main(["history", "demo", "--format=csv"]) == 0
    text = capsys.readouterr().out
    first, second, third = csv.DictReader(io.StringIO(text, newline=""))
    assert (first["run_id"], first["changed"], first["cost_usd"]) == (
        "run-1",
        "",
        "0.75",
    )
    assert (second["changed"], second["complete"]) == ("rubric", "true")
    assert (third["lower_bound_95"], third["errors"]) == ("", "1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["dmeo"],
            "there is no run of task class 'dmeo' in .codegenie/runs (did you mean "
            "'demo'?); there: demo",
        ),
        (
            ["demo", "--agent=othr"],
            "there is no run of agent 'othr' in demo (did you mean 'other'?); there: "
            "nop, other",
        ),
        (["demo", "--out=nowhere"], "--out: there is no directory nowhere"),
    ],
)
def test_wrong_names_are_told(
    store: Path, capsys: Printed, arguments: list[str], message: str
) -> None:
    three_runs(store)
    assert main(["history", *arguments]) == 4
    assert capsys.readouterr().err == f"codegenie: {message}\n"


def test_runs_that_cannot_be_read_are_named(store: Path, capsys: Printed) -> None:
    three_runs(store)
    (store / "runs/run-1" / RUN).write_text("{", encoding="utf-8")
    (store / "runs/run-2/results.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    (store / "runs/nothing").mkdir()
    for command in (["history", "demo"], ["runs"]):
        assert main(command) == 1
        printed = capsys.readouterr()
        assert "run-3 " in printed.out
        assert "run-1 " not in printed.out
        shown = [line.partition(": left out: ")[2] for line in printed.err.splitlines()]
        assert [line.partition(": ")[0] for line in shown] == [
            ".codegenie/runs/nothing/run.json",
            ".codegenie/runs/run-1/run.json",
            ".codegenie/runs/run-2/results.jsonl",
        ]


def test_runs_shows_the_newest_first(store: Path, capsys: Printed) -> None:
    three_runs(store)
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == (
        "run    begun             agents  task classes   items  passed  failed  errors"
        "  complete  cost (USD)\n"
        "run-3  2026-11-24 12:00  other   demo          2 of 3       1       0       1"
        "  no           unknown\n"
        "run-2  2026-11-23 12:00  nop     demo               3       2       1       0"
        "  yes          unknown\n"
        "run-1  2026-11-22 12:00  nop     demo               3       3       0       0"
        "  yes           0.7500\n"
    )
    assert main(["runs", "--limit", "1", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one == {
        "run_id": "run-3",
        "directory": ".codegenie/runs/run-3",
        "began_at": "2026-11-24T12:00:00+00:00",
        "graded_from": None,
        "agents": ["other"],
        "task_classes": ["demo"],
        "selected": 3,
        "results": 2,
        "passed": 1,
        "failed": 0,
        "errors": 1,
        "ambiguous": 0,
        "complete": False,
        "cost_usd": None,
    }


def test_no_run_is_no_fault(store: Path, capsys: Printed) -> None:
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == "there is no run in .codegenie/runs\n"
    assert main(["runs", "--format=json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["runs", "--out=nowhere"]) == 4
    assert main(["history", "demo"]) == 4
    assert capsys.readouterr().err.endswith("in .codegenie/runs; there: none\n")


@pytest.mark.parametrize("limit", ["0", "-1", "many", "1.5", ""])
def test_a_wrong_limit_is_a_usage_error(limit: str, capsys: Printed) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["runs", f"--limit={limit}"])
    assert ended.value.code == 4
    said = f"--limit: must be a whole number of at least 1, got {limit!r}"
    assert said in capsys.readouterr().err


def test_what_a_session_reports_is_what_history_shows(
    project: Project, capsys: Printed
) -> None:
    for name in "abc":
        project.case(name, files=RIGHT_IF_MENDED)
    for run_id, agent in (("one", "oracle"), ("two", "oracle"), ("three", "nop")):
        options = (f"--codegenie-agent={agent}", "--codegenie-workspace=host")
        project.run(f"--codegenie-run-id={run_id}", *options)
    project.bench.case("d", files=RIGHT_IF_MENDED)
    project.run("--codegenie-run-id=four", "--codegenie-workspace=host")
    # What reports say is not read from results.
    for directory in project.run_directories:
        (directory / "results.jsonl").unlink()
    capsys.readouterr()
    assert main(["history", "demo-task", "--format=json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [
        (row["run_id"], row["passed"], row["cases"], row["complete"], row["changed"])
        for row in rows
    ] == [
        ("one", 3, 3, True, None),
        ("two", 3, 3, True, []),
        ("three", 0, 3, True, None),
        ("four", 4, 4, True, ["corpus"]),
    ]
