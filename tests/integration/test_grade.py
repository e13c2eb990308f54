"""``codegenie grade`` and ``--codegenie-grade``: a run judged again, without agents."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from integration.sessions import NEVER_JUDGED
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import collected
from support import FIX

from pytest_codegenie import load_run
from pytest_codegenie.cli import main
from pytest_codegenie.evidence import Run


STRICT_RUBRIC = """\
from pytest_codegenie import BenchScore


class DemoTaskRubric:
    def score(self, case, harness_output):
        return BenchScore(passed=False, score=0.5, breakdown={"fixed": 0.5})
"""


class Graded:
    """A project with a run ``old`` of an agent that leaves a trace of each start."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.trace = project.path / "trace"
        self.trace.write_text("", "utf-8")

    def begin(self, *case_ids: str, script: str = FIX, **settings: object) -> None:
        for case_id in case_ids:
            self.project.case(case_id, files=RIGHT_IF_MENDED)
        option = self.project.shell_agent(
            f"echo x >> {self.trace}; {script}", workspace="host", **settings
        )
        self.project.run(option, "--codegenie-run-id=old", "bench")
        self.trace.write_text("", "utf-8")

    def grade(self, *arguments: str, run: str = "old") -> pytest.RunResult:
        result = self.project.run(
            f"--codegenie-grade={run}",
            *("--codegenie-run-id=new", "--codegenie-workspace=host", "bench"),
            *arguments,
        )
        assert_no_traceback(result)
        assert self.trace.read_text("utf-8") == ""
        return result

    def load(self, name: str = "new") -> Run:
        return load_run(self.project.path / ".codegenie" / "runs" / name)

    def edit_tests(self, case_id: str, text: str) -> None:
        tests = self.project.bench.cases_dir / case_id / "expected" / "tests.toml"
        tests.write_text(text, "utf-8")
        self.project.bench.sign()


@pytest.fixture
def graded(project: Project) -> Graded:
    return Graded(project)


def test_the_patches_of_a_run_are_judged_again(graded: Graded) -> None:
    graded.begin("first", "second", trials=2)
    result = graded.grade("-v")
    result.assert_outcomes(passed=4)
    result.stdout.re_match_lines(
        [
            r"codegenie: grading run old again, agents: shell \(none is started\); .*",
            r".*::first\[shell-t1\] PASSED \(graded again\) .*",
            r".*::second\[shell-t2\] PASSED \(graded again\) .*",
            r"  origin   4 of 4 judged anew, the patch from an earlier run",
        ]
    )
    old, new = graded.load("old"), graded.load()
    assert (old.record.graded_from, new.record.graded_from) == (None, "old")
    assert len(new.results) == 4
    assert {one.provenance for one in new.results} == {"regraded"}
    assert {one.run_id for one in new.results} == {"new"}
    patches = {one.output.patch for one in old.results if one.output}
    assert {one.output.patch for one in new.results if one.output} == patches
    assert new.record.config["agents"][0]["label"] == "shell"
    # Nothing of what was on record is touched.
    assert {one.run_id for one in old.results} == {"old"}


def test_a_changed_rubric_is_what_it_is_for(graded: Graded) -> None:
    graded.begin("first")
    rubric = graded.project.bench.directory / "rubric.py"
    rubric.write_text(STRICT_RUBRIC, "utf-8")
    # In a process of its own: this one has imported the rubric.
    done = graded.project.command(
        *("grade", "old", "--run-id", "new", "--", "-q"),
        *("--codegenie-workspace", "host"),
    )
    assert done.stdout.splitlines()[0] == (
        "$ pytest --codegenie bench --codegenie-grade=old --codegenie-run-id=new -q "
        "--codegenie-workspace host"
    )
    assert done.returncode == 1
    assert "graded     again; no agent worked in this run" in done.stdout
    (result,) = graded.load().results
    assert (result.outcome, result.score.score) == ("failed", 0.5)
    assert graded.trace.read_text("utf-8") == ""
    old = graded.load("old").results[0]
    assert old.outcome == "passed"
    assert old.rubric_digest != result.rubric_digest


def test_the_latest_run_is_the_one_before_this(graded: Graded) -> None:
    graded.begin("first", "second")
    graded.grade("-n", "2", "-k", "second", run="latest").assert_outcomes(passed=1)
    assert graded.load().record.graded_from == "old"
    assert [one.case_id for one in graded.load().results] == ["second"]


def test_cases_that_changed_since_are_refused_and_named(graded: Graded) -> None:
    graded.begin("first", "second", "third")
    for case_id in ("first", "third"):
        graded.edit_tests(case_id, 'framework = "command"\ncommand = "false"\n')
    result = graded.grade("-n", "2")
    assert result.ret == 4
    text = result.stdout.str()
    assert "run 'old' is not graded again: 2 cases changed since" in text
    assert text.count("\n  demo-task/first\n") == 1  # not by each worker
    result.stdout.re_match_lines([r"  demo-task/first", r"  demo-task/third"])
    assert "demo-task/second" not in text
    assert not (graded.project.path / ".codegenie" / "runs" / "new").exists()
    assert graded.grade("-k", "first").ret == 4
    graded.grade("-k", "second").assert_outcomes(passed=1)


def test_changed_cases_are_graded_where_that_is_asked_for(graded: Graded) -> None:
    graded.begin("first")
    graded.edit_tests("first", 'framework = "command"\ncommand = "false"\n')
    graded.grade("--codegenie-grade-changed").assert_outcomes(failed=1)
    old, new = graded.load("old").results[0], graded.load().results[0]
    assert old.case_digest != new.case_digest


def test_what_cannot_be_graded_again_is_an_error_that_says_why(
    graded: Graded,
) -> None:
    graded.project.case("errs", files=NEVER_JUDGED)
    graded.begin("first", "second", script=f"test -e {graded.trace} && {FIX}")
    results = graded.project.path / ".codegenie" / "runs" / "old" / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    by_case = {line["case_id"]: line for line in lines}
    # A crash took one result; of another the agent was never started.
    by_case["first"] |= {"outcome": "error", "output": None, "message": "no such model"}
    kept = [by_case["errs"], by_case["first"]]
    results.write_text("".join(f"{json.dumps(line)}\n" for line in kept), "utf-8")
    result = graded.grade()
    result.assert_outcomes(errors=3)
    messages = {one.case_id: one.message for one in graded.load().results}
    assert messages["first"] == (
        "cannot be graded again: no agent came to its end: no such model"
    )
    assert messages["second"] == (
        "cannot be graded again: run old was cut off and has no result of it"
    )
    # Nothing judged it then, and nothing can today.
    assert "unknown evaluator 'oracle-bones'" in messages["errs"]


def test_items_that_the_run_did_not_have_are_left_out(graded: Graded) -> None:
    graded.begin("first")
    graded.project.case("later")
    result = graded.grade("--collect-only", "-q")
    assert collected(result) == ["bench/demo-task/cases/first/case.toml::first[shell]"]
    result.stdout.re_match_lines([r".*1/2 tests collected \(1 deselected\).*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--codegenie-grade=odl"],
            r"there is no run 'odl' in \.codegenie/runs \(did you mean 'old'\?\); the "
            r"last ones: old",
        ),
        (["--codegenie-grade=./nowhere"], r"there is no directory \./nowhere"),
        (["--codegenie-grade=bench"], r"there is no run 'bench'"),
        (
            ["--codegenie-grade=old", "--codegenie-agent=nop"],
            r"--codegenie-agent: the agents are those of the run; -k chooses among",
        ),
        (
            ["--codegenie-grade=old", "--codegenie-trials=2"],
            r"--codegenie-trials: the trials are those of the run",
        ),
        (
            ["--codegenie-grade=old", "--codegenie-validate"],
            r"--codegenie-validate: no run is looked at when the corpus is checked",
        ),
        (
            ["--codegenie-grade-changed"],
            r"--codegenie-grade-changed: says nothing without --codegenie-grade RUN",
        ),
    ],
)
def test_wrong_usage_is_told(
    project: Project, arguments: list[str], message: str
) -> None:
    project.case()
    old = project.path / ".codegenie" / "runs" / "old"
    old.mkdir(parents=True)
    record = {"run_id": "old", "started_at": "2026-11-21T00:00:00Z", "versions": {}}
    config = {"agents": [{"name": "nop", "label": "nop"}]}
    (old / "run.json").write_text(json.dumps(record | {"config": config}), "utf-8")
    result = project.run(*arguments, "bench")
    assert result.ret == 4
    assert re.search(message, result.stderr.str())
    assert [path.name for path in project.run_directories] == ["old"]


def test_a_record_that_names_no_agents_is_told(project: Project) -> None:
    project.case()
    old = project.path / ".codegenie" / "runs" / "old"
    old.mkdir(parents=True)
    record = {"run_id": "old", "started_at": "2026-11-21T00:00:00Z", "versions": {}}
    (old / "run.json").write_text(json.dumps(record | {"config": {}}), "utf-8")
    result = project.run("--codegenie-grade=old", "bench")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*old/run.json: does not say which agents the run had: KeyError"]
    )


def test_the_command_says_what_it_becomes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    became: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, argv: became.append(argv))
    main(["grade", "latest", "bench/x", "--changed", "-w", "2", "--", "-k", "a or b"])
    assert capsys.readouterr().out == (
        "$ pytest --codegenie bench/x --codegenie-grade=latest "
        "--codegenie-grade-changed -n 2 -k 'a or b'\n"
    )
    assert became[0][1:5] == ["-P", "-m", "pytest", "--codegenie"]
    assert became[0][-2:] == ["-k", "a or b"]


def test_costs_are_those_on_record_and_not_spent_again(graded: Graded) -> None:
    graded.begin("first")
    results = graded.project.path / ".codegenie" / "runs" / "old" / "results.jsonl"
    line = json.loads(results.read_text("utf-8"))
    line["output"]["agent"] |= {"cost_usd": 1.5, "tokens_used": 700}
    results.write_text(f"{json.dumps(line)}\n", "utf-8")
    result = graded.grade()
    result.assert_outcomes(passed=1)
    text = " ".join(result.stdout.str().split())
    assert (
        "cost 1.5000 USD as reported by the agent, 1.5000 of it spent in earlier runs"
    ) in text
    report = Path(graded.load().directory, "report-demo-task-shell.json")
    assert json.loads(report.read_bytes())["total_cost_usd"] == 1.5
