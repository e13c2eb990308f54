"""The audit chain in sessions, and ``codegenie audit``."""

from __future__ import annotations

import json
import re
import stat
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import properties
from support_audit import Store

from pytest_codegenie.cli import main
from pytest_codegenie.evidence import check_chain
from pytest_codegenie.evidence.audit.chain import GENESIS
from pytest_codegenie.scoring import rubric_isolation


HEAD = re.compile(r"^chain head ([0-9a-f]{64})$", re.M)


class Chained:
    """A project, and the chain in its store."""

    def __init__(self, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
        self.project = project
        self._capsys = capsys
        self.out = project.path / ".codegenie"
        self.path = self.out / "audit" / "chain.jsonl"

    def run(self, *arguments: str) -> str:
        """Run a session; return the head that it showed."""
        result = self.project.run(*arguments)
        assert_no_traceback(result)
        (head,) = HEAD.findall(result.stdout.str())
        assert isinstance(head, str)
        return head

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def verify(self, *, strict: bool = False) -> Any:
        """Run ``codegenie audit verify``; return what it says of a chain that holds."""
        self._capsys.readouterr()
        code = main(["audit", "verify", "--json", *(["--strict"] if strict else [])])
        printed = self._capsys.readouterr()
        assert code == 0, printed
        return json.loads(printed.out)

    def spoil(self) -> None:
        """Make a chain whose first record says something else than it did."""
        Store(self.project.path).recorded_run("earlier")
        data = self.path.read_bytes()
        spoilt = re.sub(rb'"passed_count":\d+', b'"passed_count":7', data, count=1)
        assert spoilt != data
        self.path.write_bytes(spoilt)


@pytest.fixture
def chained(project: Project, capsys: pytest.CaptureFixture[str]) -> Chained:
    return Chained(project, capsys)


def test_a_run_appends_a_record_for_each_task_class_and_agent(
    chained: Chained, plugin_args: list[str]
) -> None:
    project = chained.project
    project.case("one")
    project.case("two")
    agents = ["--codegenie-agent=oracle", "--codegenie-agent=nop"]
    head = chained.run(*agents, "--junitxml=junit.xml", *plugin_args)
    records = chained.records()
    reports = [record["content"]["report"] for record in records]
    assert [report["agent"] for report in reports] == ["nop", "oracle"]
    assert [record["prev_hash"] for record in records] == [
        GENESIS,
        records[0]["chain_head"],
    ]
    assert records[1]["chain_head"] == head
    isolation = f"{AUTO_WORKSPACE}; rubric {rubric_isolation()}"
    assert [report["isolation_class"] for report in reports] == [isolation] * 2
    assert list(records[1]["content"]["results"]) == ["one-t1", "two-t1"]
    run = project.only_run()
    assert run.record.chain_head == head
    for record, report in zip(records, reports, strict=True):
        path = run.directory / f"report-demo-task-{report['agent']}.json"
        links = {key: record[key] for key in ("prev_hash", "chain_head")}
        assert json.loads(path.read_text("utf-8")) == report | links
    suite = next(ET.parse(project.path / "junit.xml").getroot().iter("testsuite"))
    assert properties(suite)["codegenie.chain_head"] == head
    assert stat.S_IMODE(chained.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(chained.path.parent.stat().st_mode) == 0o700


def test_each_run_goes_on_where_the_last_one_ended(chained: Chained) -> None:
    chained.project.case()
    first, second = chained.run(), chained.run()
    assert [r["prev_hash"] for r in chained.records()] == [GENESIS, first]
    assert check_chain(chained.out).head == second


@pytest.mark.parametrize(
    "arguments",
    [["--collect-only"], ["--codegenie-validate"], ["-k", "no-such-case"]],
)
def test_where_nothing_was_run_nothing_is_on_record(
    chained: Chained, arguments: list[str]
) -> None:
    chained.project.case()
    result = chained.project.run(*arguments)
    assert "chain head" not in result.stdout.str()
    assert not chained.path.exists()


def test_a_broken_chain_stops_the_next_run_before_any_agent(
    chained: Chained, plugin_args: list[str]
) -> None:
    project = chained.project
    project.case()
    chained.spoil()
    runs = project.run_directories
    option = project.shell_agent(f"echo started > {project.path}/trace")
    result = project.run(option, *plugin_args)
    assert result.ret == 8
    assert_no_traceback(result)
    said = result.stdout.str() + result.stderr.str()
    assert said.count("does not verify") == 1
    assert "record 1 (" in said
    assert ".codegenie/audit/chain.jsonl" in said
    assert not (project.path / "trace").exists()
    assert project.run_directories == runs
    assert len(chained.records()) == 1


@pytest.mark.parametrize("option", ["--collect-only", "--codegenie-validate"])
def test_a_broken_chain_does_not_stop_what_is_not_recorded(
    chained: Chained, option: str
) -> None:
    chained.project.case("first", disposition="negative")
    chained.spoil()
    assert chained.project.run(option).ret == 0


def test_a_chain_that_breaks_during_a_run_gets_no_record_and_exit_code_8(
    chained: Chained,
) -> None:
    project = chained.project
    project.case()
    chained.run()
    script = f"echo >> README.md; sed -i s/demo-task/demo-tusk/ {chained.path}"
    workspace = "--codegenie-workspace=host"
    result = project.run(project.shell_agent(script), workspace)
    assert result.ret == 8
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["the audit chain has no record of this run: *"])
    assert "chain head" not in result.stdout.str()
    assert len(chained.records()) == 1
    report = project.run_directories[-1] / "report-demo-task-shell.json"
    assert json.loads(report.read_text("utf-8"))["chain_head"] == ""


#: Of the host: nothing can be appended below it any more.
IN_THE_WAY = "echo >> README.md; rm -rf {0}; echo > {0}"


def test_a_run_that_cannot_be_put_on_record_keeps_its_results(
    chained: Chained,
) -> None:
    project = chained.project
    project.case()
    script = IN_THE_WAY.format(chained.path.parent)
    workspace = "--codegenie-workspace=host"
    result = project.run(project.shell_agent(script), workspace)
    assert result.ret == 1
    assert_no_traceback(result)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["the audit chain has no record of this run: *"])
    assert "chain head" not in result.stdout.str()
    assert len(project.only_run().results) == 1
    (directory,) = project.run_directories
    report = directory / "report-demo-task-shell.json"
    assert json.loads(report.read_text("utf-8"))["chain_head"] == ""


def test_a_chain_that_cannot_be_read_stops_the_run(chained: Chained) -> None:
    project = chained.project
    project.case()
    chained.path.mkdir(parents=True)
    result = project.run()
    assert result.ret == 4
    assert_no_traceback(result)
    result.stderr.fnmatch_lines(["ERROR: .codegenie/audit/chain.jsonl: *regular file*"])
    assert not project.run_directories


@pytest.mark.parametrize("option", ["--help", "--markers", "--fixtures", "--version"])
def test_a_broken_chain_keeps_nobody_from_asking(chained: Chained, option: str) -> None:
    chained.path.parent.mkdir(parents=True)
    chained.path.write_text("broken\n")
    assert chained.project.run(option).ret == 0


def test_verify_derives_what_sessions_recorded(chained: Chained) -> None:
    project = chained.project
    project.three_outcomes()
    project.case("unclear", disposition="ambiguous")
    head = chained.run("--codegenie-trials=2")
    found = chained.verify(strict=True)
    assert (found["head"], found["gaps"]) == (head, [])
    assert (found["derived"], found["results"]) == (1, 8)
    # A case could not be judged.
    assert (found["complete"], found["incomplete"]) == (0, 1)


def test_a_run_that_was_killed_is_put_on_record_when_it_is_resumed(
    chained: Chained,
) -> None:
    project = chained.project
    project.case("one")
    project.case("two")
    head = chained.run("--codegenie-run-id=first")
    # As it is after a kill: no record, no report, and a result that is missing.
    (directory,) = project.run_directories
    chained.path.unlink()
    (directory / "report-demo-task-oracle.json").unlink()
    results = directory / "results.jsonl"
    results.write_bytes(results.read_bytes().splitlines(keepends=True)[0])
    found = chained.verify()
    assert [gap["kind"] for gap in found["gaps"]] == ["run-unrecorded"]
    later = chained.run("--codegenie-resume=first")
    assert later != head
    assert chained.verify(strict=True)["records"] == 1
    # There is nothing left to run or to append.
    assert chained.run("--codegenie-resume=first") == later
    assert len(chained.records()) == 1
