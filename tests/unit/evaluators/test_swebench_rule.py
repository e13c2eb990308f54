"""SWE-bench's rule: its own harness says what comes of an output."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support_swebench import FAIL_ONLY_PARSERS
from support_swebench import JAVASCRIPT_PARSERS
from support_swebench import OTHER_PARSERS
from support_swebench import PARSERS
from support_swebench import made_case
from support_swebench import made_fail_only
from support_swebench import made_javascript
from support_swebench import made_output
from support_swebench import oracle
from support_swebench import oracle_statuses
from support_swebench import recorded
from support_swebench import recorded_statuses
from support_swebench import require_swebench

from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.formats import logs
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.evaluators.swebench_rule import conclude_as_swebench
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import TestStatus
from pytest_codegenie.models import VerdictRule
from pytest_codegenie.processes import Completed


LOGS = Path(__file__).parents[2] / "data" / "test_reports" / "swebench_logs.jsonl.gz"


def judge(
    report: Report,
    fail_to_pass: list[str],
    pass_to_pass: list[str] | None = None,
    *,
    exit_code: int = 0,
    timed_out: bool = False,
    output: str = "",
    rule: VerdictRule = "swebench",
) -> EvalResult:
    judgement = Judgement(
        instance_id="first",
        base=Path(),
        overlay=None,
        fail_to_pass=tuple(fail_to_pass),
        pass_to_pass=tuple(pass_to_pass or ()),
        command=None,
        timeout_seconds=1,
        scratch=Path(),
        log_path=None,
        rule=rule,
    )
    completed = Completed(exit_code, output.encode(), b"", timed_out, 5.0, 0, "")
    return conclude_as_swebench(judgement, report, completed)


def judge_output(case: Mapping[str, Any], parser: str) -> EvalResult:
    return judge(
        logs.parse_as_swebench(case["output"], parser),
        case["fail_to_pass"],
        case["pass_to_pass"],
        exit_code=case["exit_code"] or 0,
        output=case["output"],
        rule="swebench-fail-only" if "eval_type" in case else "swebench",
    )


def passed(results: Mapping[str, TestStatus]) -> list[str]:
    return sorted(test for test, status in results.items() if status == "passed")


def is_partly(result: EvalResult) -> bool:
    return result.error_message.startswith("partly resolved: ")


def check(case: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """Hold our result against what SWE-bench says."""
    result = judge_output(case, case["parser"])
    assert result.resolved == (said["resolution"] == "RESOLVED_FULL"), case
    assert result.status == ("passed" if result.resolved else "failed")
    assert is_partly(result) == (said["resolution"] == "RESOLVED_PARTIAL"), case
    assert {
        "FAIL_TO_PASS": passed(result.fail_to_pass_results),
        "PASS_TO_PASS": passed(result.pass_to_pass_results),
    } == said["success"], case


@pytest.mark.parametrize("parser", [*PARSERS, *FAIL_ONLY_PARSERS])
def test_made_outputs_are_judged_as_swe_bench_5_0_2_did(parser: str) -> None:
    cases = [case for case in recorded() if case["parser"] == parser]
    for case in cases:
        check(case, case["oracle"])
    resolutions = {case["oracle"]["resolution"] for case in cases}
    assert resolutions == {
        "INVALID",
        "RESOLVED_FULL",
        "RESOLVED_NO",
        "RESOLVED_PARTIAL",
    }


@pytest.mark.parametrize("parser", PARSERS)
def test_new_outputs_are_judged_as_swe_bench_does(parser: str) -> None:
    require_swebench()
    first = random.randrange(1 << 30)
    for number in range(first, first + 100):
        case = made_case(parser, number)
        check(case, oracle(case))


@pytest.mark.parametrize("parser", FAIL_ONLY_PARSERS)
def test_new_outputs_of_failures_alone_are_judged_as_swe_bench_does(
    parser: str,
) -> None:
    require_swebench()
    first = random.randrange(1 << 30)
    for number in range(first, first + 100):
        case = made_fail_only(parser, number)
        check(case, oracle(case))


@pytest.mark.parametrize("parser", JAVASCRIPT_PARSERS)
def test_outputs_of_multimodal_are_read_as_swe_bench_5_0_2_does(parser: str) -> None:
    rows = [row for row in recorded_statuses() if row["parser"] == parser]
    found = set()
    for row in rows:
        statuses = dict(logs.LOG_PARSERS[parser](row["output"]))
        assert statuses == row["statuses"], row
        found |= set(statuses.values())
    only_failures = JAVASCRIPT_PARSERS[parser][0] in FAIL_ONLY_PARSERS
    assert len(rows) > 30
    assert found == ({"FAILED"} if only_failures else {"PASSED", "FAILED"})


@pytest.mark.parametrize("parser", JAVASCRIPT_PARSERS)
def test_new_outputs_of_multimodal_are_read_as_swe_bench_does(parser: str) -> None:
    require_swebench()
    name, version = JAVASCRIPT_PARSERS[parser]
    first = random.randrange(1 << 30)
    for number in range(first, first + 100):
        output = made_javascript(parser, number)
        statuses = oracle_statuses(name, output, version)
        if statuses is not None:
            assert dict(logs.LOG_PARSERS[parser](output)) == statuses, output


@pytest.mark.parametrize("parser", OTHER_PARSERS)
def test_outputs_of_other_languages_are_read_as_swe_bench_5_0_2_does(
    parser: str,
) -> None:
    rows = [row for row in recorded_statuses() if row["parser"] == parser]
    found = set()
    for row in rows:
        statuses = dict(logs.LOG_PARSERS[parser](row["output"]))
        assert statuses == row["statuses"], row
        found |= set(statuses.values())
    assert len(rows) > 30
    assert found >= {"PASSED", "FAILED"}


@pytest.mark.parametrize("parser", OTHER_PARSERS)
def test_new_outputs_of_other_languages_are_read_as_swe_bench_does(
    parser: str,
) -> None:
    require_swebench()
    first = random.randrange(1 << 30)
    for number in range(first, first + 100):
        output = made_output(parser, number)
        statuses = oracle_statuses(parser, output)
        if statuses is not None:
            assert dict(logs.LOG_PARSERS[parser](output)) == statuses, output


def test_xml_with_declarations_is_not_read() -> None:
    bomb = '<!DOCTYPE d [<!ENTITY a "a">]><doctest><!DOCTYPE d>&a;</doctest>'
    assert logs.parse(bomb, "doctest").statuses == {}
    assert logs.parse("<doctest><x></doctest>", "doctest").statuses == {}


def real_logs() -> list[Any]:
    with gzip.open(LOGS) as file:
        rows = [json.loads(line) for line in file]
    return [
        pytest.param(row, id=f"{row['instance_id']}-{row['phase']}") for row in rows
    ]


REAL = real_logs()


@pytest.mark.parametrize(
    "row", [one for one in REAL if "oracle_counts" in one.values[0]]
)
def test_real_outputs_are_judged_as_swe_bench_does(row: dict[str, Any]) -> None:
    result = judge_output(row, row["log_parser"])
    counts = {
        "FAIL_TO_PASS": result.fail_to_pass_results,
        "PASS_TO_PASS": result.pass_to_pass_results,
    }
    assert {
        key: {
            "success": len(passed(tests)),
            "failure": len(tests) - len(passed(tests)),
        }
        for key, tests in counts.items()
    } == row["oracle_counts"]
    assert result.resolved == (row["oracle_resolution"] == "RESOLVED_FULL")
    assert row["oracle_valid"] == ("cannot be believed" not in result.error_message)


@pytest.mark.parametrize("row", [one for one in REAL if "report" in one.values[0]])
def test_real_outputs_are_judged_as_swe_smith_does(row: dict[str, Any]) -> None:
    result = judge_output(row, "pytest-verbose")
    assert result.resolved == row["report"]["resolved"]
    for key, tests in (
        ("FAIL_TO_PASS", result.fail_to_pass_results),
        ("PASS_TO_PASS", result.pass_to_pass_results),
    ):
        said = row["report"]["tests_status"][key]["success"]
        assert passed(tests) == sorted(said)


def test_a_skipped_test_is_kept_but_not_fixed() -> None:
    report = Report(statuses={"a": "passed", "b": "skipped"})
    result = judge(report, ["a"], ["b"])
    assert (result.resolved, result.pass_to_pass_fraction) == (True, 1.0)
    result = judge(report, ["b"], ["a"])
    assert (result.resolved, result.fail_to_pass_results) == (False, {"b": "skipped"})


def test_a_cut_id_stands_for_those_that_agree() -> None:
    report = Report(statuses={"t[a b]": "passed", "t[a c]": "passed", "t[d": "failed"})
    assert judge(report, ["t[a"]).resolved
    assert judge(report, ["t["]).fail_to_pass_results == {"t[": "missing"}
    assert not judge(report, ["t[z"]).resolved


def test_a_run_that_is_not_believed_has_shown_nothing() -> None:
    result = judge(Report(statuses={"a": "passed"}), ["a"], exit_code=2, output="said")
    assert (result.status, result.resolved) == ("failed", False)
    assert result.fail_to_pass_results == {"a": "missing"}
    assert "exit code 2, but reports no failure" in result.error_message
    assert result.error_message.endswith("said")


def test_another_failure_explains_any_exit_code() -> None:
    report = Report(statuses={"a": "passed", "b": "failed"})
    assert judge(report, ["a"], exit_code=139).resolved
    assert judge(report, ["a"], exit_code=0).resolved


def test_without_a_failure_a_test_has_passed_once_tests_ran() -> None:
    def judged(output: str, exit_code: int = 0) -> EvalResult:
        report = logs.parse_as_swebench(output, "marked")
        return judge(
            report, ["a b"], ["c"], exit_code=exit_code, rule="swebench-fail-only"
        )

    assert judged("2 specs, 0 failures\n").resolved
    failed = judged("1) a b\n2 specs, 1 failure\n", 1)
    assert failed.fail_to_pass_results == {"a b": "failed"}
    assert failed.pass_to_pass_results == {"c": "passed"}
    silent = judged("0 specs, 0 failures\n")
    assert (silent.status, silent.resolved) == ("failed", False)
    assert silent.fail_to_pass_results == {"a b": "missing"}
    assert "no result of a test is in it" in silent.error_message


def test_a_run_of_failures_alone_that_hangs_has_shown_nothing() -> None:
    result = judge(
        Report(), ["a"], exit_code=-9, timed_out=True, rule="swebench-fail-only"
    )
    assert (result.status, result.resolved) == ("timeout", False)
    assert result.fail_to_pass_results == {"a": "missing"}


def test_what_is_partly_resolved_says_so() -> None:
    report = Report(statuses={"a": "passed", "b": "failed", "c": "passed"})
    result = judge(report, ["a", "b"], ["c"], exit_code=1)
    assert result.error_message.splitlines()[:2] == [
        "partly resolved: 1 of 2 fail_to_pass pass, and all of pass_to_pass",
        "b: failed",
    ]
    assert (result.fail_to_pass_fraction, result.pass_to_pass_fraction) == (0.5, 1.0)


def test_a_run_that_hangs_is_a_time_out() -> None:
    result = judge(
        Report(statuses={"a": "passed"}), ["a"], exit_code=-9, timed_out=True
    )
    assert (result.status, result.resolved) == ("timeout", False)
    assert "ran longer than 5 seconds" in result.error_message


def test_of_two_results_of_one_id_the_last_counts() -> None:
    output = "FAILED a.py::t[x y] - no\nPASSED a.py::t[x z]\n"
    statuses = logs.parse_as_swebench(output, "pytest").statuses
    assert statuses == {"a.py::t[x": "passed"}


def test_what_stands_before_the_mark_is_of_a_build() -> None:
    output = (
        "PASSED a\n>>>>> Start Test Output\nPASSED b\n>>>>> End Test Output\nPASSED c"
    )
    assert logs.parse_as_swebench(output, "pytest").statuses == {"b": "passed"}
