"""Reading output as SWE-bench does: its own results on real output are the oracle."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.evaluators.agreement import conclude
from pytest_codegenie.evaluators.formats import logs
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.models import EvalResult
from pytest_codegenie.processes import Completed


SAMPLES = Path(__file__).parents[2] / "data" / "test_reports"


def recorded() -> list[Any]:
    with gzip.open(SAMPLES / "swebench_logs.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    return [
        pytest.param(row, id=f"{row['instance_id']}-{row['phase']}") for row in rows
    ]


ROWS = recorded()
SWE_BENCH = [param for param in ROWS if "oracle_status_map" in param.values[0]]
SWE_SMITH = [param for param in ROWS if "report" in param.values[0]]


def judge(row: dict[str, Any], parser: str) -> EvalResult:
    judgement = Judgement(
        instance_id=row["instance_id"],
        base=Path(),
        overlay=None,
        fail_to_pass=tuple(row["fail_to_pass"]),
        pass_to_pass=tuple(row["pass_to_pass"]),
        command=None,
        timeout_seconds=1,
        scratch=Path(),
        log_path=None,
    )
    completed = Completed(row["exit_code"] or 0, b"", b"", False, 1.0, 0)
    report = logs.parse(row["output"], parser)
    return conclude(judgement, report, completed, exact=False)


@pytest.mark.parametrize("row", SWE_BENCH)
def test_statuses_are_those_of_swe_bench(row: dict[str, Any]) -> None:
    read = logs.LOG_PARSERS[row["log_parser"]]
    assert dict(read(row["output"])) == row["oracle_status_map"]


@pytest.mark.parametrize("row", SWE_BENCH)
def test_counts_and_resolution_are_those_of_swe_bench(row: dict[str, Any]) -> None:
    result = judge(row, row["log_parser"])
    for tests, counts in (
        (result.fail_to_pass_results, row["oracle_counts"]["FAIL_TO_PASS"]),
        (result.pass_to_pass_results, row["oracle_counts"]["PASS_TO_PASS"]),
    ):
        passed = sum(status == "passed" for status in tests.values())
        assert passed == counts["success"]
        assert len(tests) - passed == counts["failure"]
    assert result.resolved == (row["oracle_resolution"] == "RESOLVED_FULL")


@pytest.mark.parametrize("row", SWE_SMITH)
def test_swe_smith_runs_are_resolved(row: dict[str, Any]) -> None:
    result = judge(row, "pytest-verbose")
    assert result.resolved
    assert result.resolved == row["report"]["resolved"]


@pytest.mark.parametrize(
    ("parser", "line", "results"),
    [
        ("pytest", "PASSED a.py::t[x y]", {"a.py::t[x": "PASSED"}),
        ("pytest", "FAILED a.py::t - assert 1", {"a.py::t": "FAILED"}),
        ("pytest", "SKIPPED [2] a.py:3: why", {}),
        ("pytest", "PASSED      [100%]", {"[100%]": "PASSED"}),
        ("pytest", "PASSED", {}),
        ("pytest", " PASSED a.py::t", {}),
        ("pytest-options", "PASSED t[/usr/x]", {"t[/x]": "PASSED"}),
        ("pytest-options", "PASSED t[//usr/x]", {"t[//usr/x]": "PASSED"}),
        ("pytest-options", "PASSED t[/u/*/x]", {"t[/u/*/x]": "PASSED"}),
        ("pytest-options", "PASSED t[/x/y][z]", {"t[/y][z]": "PASSED"}),
        ("pytest-v2", "\x1b[32mPASSED\x1b[0m t[x y]", {"t[x y]": "PASSED"}),
        ("pytest-v2", "a.py::t PASSED", {"a.py::t": "PASSED"}),
        ("pytest-v2", "ERROR a - x", {"a - x": "ERROR"}),
        ("pytest-verbose", "a.py::t[x y] PASSED [  3%]", {"a.py::t[x y]": "PASSED"}),
        ("pytest-verbose", "a.py::t SKIPPED (why) [ 9%]", {"a.py::t": "SKIPPED"}),
        ("seaborn", "a.py::t PASSED [ 10%]", {"a.py::t": "PASSED"}),
        ("seaborn", "SKIPPED a.py::t", {}),
        ("matplotlib", "PASSED t[MouseButton.RIGHT]", {"t[3]": "PASSED"}),
        ("sympy", "test_x ok", {"test_x": "PASSED"}),
        ("sympy", "test_x F", {"test_x": "FAILED"}),
        ("sympy", "test_x s", {}),
        ("sympy", "___ a/test_b.py:test_c ___", {"a/test_b.py:test_c": "FAILED"}),
        ("django", "t (a.B) ... ok", {"t (a.B)": "PASSED"}),
        ("django", "t (a.B)\nDoc line ... ok", {"Doc line": "PASSED"}),
        ("django", "t (a.B) ... skipped 'x'", {"t (a.B)": "SKIPPED"}),
        ("django", "t (a.B) ... warns\nok", {"t (a.B)": "PASSED"}),
        ("django", "t (a.B) ... expected failure", {}),
        ("django", "FAIL: t (a.B) (x=1)", {"t": "FAILED"}),
        ("django", "FAIL:", {}),
        ("django", "u ... ok\nok", {"u": "PASSED"}),
    ],
)  # fmt: skip
def test_single_lines_are_read_as_swe_bench_5_does(
    parser: str, line: str, results: dict[str, str]
) -> None:
    assert dict(logs.LOG_PARSERS[parser](line)) == results


def test_swe_bench_names_are_known() -> None:
    names = {f"parse_log_{name}" for name in ("flask", "django", "scikit", "pytest_v2")}
    assert names <= set(logs.LOG_PARSERS)


def test_of_two_results_of_one_id_the_worst_counts() -> None:
    output = "FAILED a.py::t[x y] - no\nPASSED a.py::t[x z]\n"
    assert logs.parse(output, "pytest").statuses == {"a.py::t[x": "failed"}


def test_an_error_in_teardown_is_seen_where_its_text_is_taken_for_the_id() -> None:
    output = (SAMPLES / "log-pytest-verbose.txt").read_text(encoding="utf-8")
    statuses = logs.parse(output, "pytest-v2").statuses
    assert statuses["test_sum.py::test_torn_down"] == "error"
    assert statuses["test_sum.py::test_text[a b]"] == "passed"
