"""When a report and an exit code together say that a case is resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie.evaluators.agreement import conclude
from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


def judge(
    report: Report,
    *,
    exit_code: int = 0,
    timed_out: bool = False,
    exceeded: str = "",
    asked: str = "asked",
    exact: bool = True,
) -> EvalResult:
    judgement = Judgement(
        instance_id="first",
        base=Path(),
        overlay=None,
        fail_to_pass=(asked,),
        pass_to_pass=(),
        command=None,
        timeout_seconds=1,
        scratch=Path(),
        log_path=None,
    )
    completed = Completed(exit_code, b"said", b"", timed_out, 5.0, 0, exceeded)
    return conclude(judgement, report, completed, exact=exact)


def made_of(**statuses: TestStatus) -> Report:
    return Report(statuses=dict(statuses))


def test_all_passed_and_exit_code_0_is_resolved() -> None:
    result = judge(made_of(asked="passed", other="skipped"))
    assert result.resolved
    assert (result.status, result.error_message) == ("passed", "")


@pytest.mark.parametrize("status", ["failed", "error", "skipped"])
def test_only_a_pass_has_passed(status: TestStatus) -> None:
    result = judge(made_of(asked=status), exit_code=status != "skipped")
    assert not result.resolved
    assert f"asked: {status}" in result.error_message


def test_a_test_that_did_not_run_is_missing() -> None:
    result = judge(made_of(other="passed"))
    assert result.fail_to_pass_results == {"asked": "missing"}
    assert "asked: missing\nthe test run ended with exit code 0" in result.error_message


def test_a_failure_that_was_not_asked_for_explains_the_exit_code() -> None:
    assert judge(made_of(asked="passed", other="failed"), exit_code=1).resolved


def test_a_failure_that_is_no_test_explains_the_exit_code() -> None:
    report = made_of(asked="passed")
    report.fail("package x does not build")
    assert judge(report, exit_code=1).resolved


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (1, "the test run ended with exit code 1, but reports no failure"),
        (-11, "the test run was ended by signal 11"),
        (139, "the test run was ended by signal 11"),
    ],
)
def test_an_exit_code_that_nothing_explains_is_not_resolved(
    exit_code: int, words: str
) -> None:
    result = judge(made_of(asked="passed"), exit_code=exit_code)
    assert not result.resolved
    assert result.error_message == f"{words}\nsaid"


def test_a_crash_is_not_explained_by_a_failure() -> None:
    report = made_of(asked="passed", other="failed")
    assert not judge(report, exit_code=-6).resolved


def test_exit_code_0_and_a_failure_do_not_agree() -> None:
    report = made_of(asked="passed", other="failed")
    result = judge(report)
    assert not result.resolved
    assert "exit code 0, but other failed" in result.error_message
    # Output may be that of tests of tests.
    assert judge(report, exact=False).resolved


def test_a_report_with_a_fault_is_not_believed() -> None:
    report = made_of(asked="passed")
    report.faults.append("it is cut off")
    result = judge(report)
    assert not result.resolved
    assert "the report cannot be believed: it is cut off" in result.error_message


def test_a_time_out_is_said() -> None:
    result = judge(made_of(asked="passed"), exit_code=-15, timed_out=True)
    assert (result.status, result.resolved) == ("timeout", False)
    assert "ran longer than 5 seconds" in result.error_message


def test_a_run_that_was_ended_for_a_limit_is_not_resolved() -> None:
    result = judge(made_of(asked="passed"), exceeded="more than 8 GiB on disk")
    assert "was ended: more than 8 GiB on disk" in result.error_message


def test_half_a_character_in_a_report_can_be_recorded() -> None:
    report = Report()
    report.add("asked", "failed", "expected \ud83d")
    result = judge(report, exit_code=1)
    assert result.error_message == "asked: failed\nexpected ?"
    assert EvalResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("t[a b]", "passed"),
        ("t[a", "passed"),
        ("t[", "missing"),
        ("t", "missing"),
        ("t[a b] ", "missing"),
        ("u[", "passed"),
    ],
)
def test_an_id_that_is_cut_off_stands_for_those_that_agree(
    asked: str, expected: str
) -> None:
    report = Report()
    for test in ("t[a b]", "t[a c]", "u[1]"):
        report.add(test, "passed")
    report.add("t[d]", "failed")
    result = judge(report, asked=asked, exit_code=1)
    assert result.fail_to_pass_results == {asked: expected}
