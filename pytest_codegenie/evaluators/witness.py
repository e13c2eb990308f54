"""Reading the report of a test run as a hostile witness's statement.

Three things have to agree: the report, the exit code, and what was asked for. In
every test module one planted test with a random name must have failed, with a text
that only we know. Where they do not agree, somebody tampered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


_TEXT_LIMIT = 4000


@dataclass(slots=True)
class TestReport:
    """What a report says."""

    __test__ = False  # pytest would take it for a class of tests

    collected: set[str] = field(default_factory=set)
    #: Id to the text that its failure must show.
    canaries: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, TestStatus] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    collect_errors: dict[str, str] = field(default_factory=dict)
    finished: bool = False
    #: What in it is no report at all; empty if it is one.
    malformed: str = ""


def read_report(path: Path) -> TestReport:
    """Return what the report says; a missing one says nothing."""
    report = TestReport()
    try:
        lines = path.read_bytes().decode(errors="replace").splitlines()
    except OSError:
        return report
    for number, line in enumerate(lines, 1):
        try:
            _take(report, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            report.malformed = report.malformed or f"line {number} is no report line"
    return report


def _take(report: TestReport, event: Mapping[str, Any]) -> None:
    kind = event["kind"]
    if kind == "collected":
        report.collected.update(event["tests"])
        report.canaries.update(event["canaries"])
    elif kind == "collect_error":
        report.collect_errors[event["place"]] = str(event["text"])[-_TEXT_LIMIT:]
    elif kind == "finished":
        report.finished = True
    elif kind == "test":
        status = _status(event)
        if status is None:
            return
        known = report.statuses.get(event["test"])
        if known in (None, "passed"):
            report.statuses[event["test"]] = status
        if status != "passed":
            report.texts.setdefault(event["test"], str(event["text"])[-_TEXT_LIMIT:])
    else:
        raise ValueError(kind)


def _status(event: Mapping[str, Any]) -> TestStatus | None:
    """Return what one phase of a test says; None: nothing that counts.

    An expected failure counts as passed, as in SWE-bench.
    """
    outcome, when = event["outcome"], event["when"]
    if event["xfail"] and outcome in ("skipped", "passed"):
        return "passed"
    if outcome == "passed":
        return "passed" if when == "call" else None
    if outcome == "failed":
        return "failed" if when == "call" else "error"
    if outcome in ("skipped", "error"):
        return "skipped" if outcome == "skipped" else "error"
    raise ValueError(outcome)


def disagreements(
    report: TestReport, asked: Sequence[str], completed: Completed
) -> tuple[str, ...]:
    """Return how report, exit code and request disagree, one sentence each.

    A run that crashed or ran out of time explains tests that are missing; a run that
    says all is well does not.
    """
    found = []
    canary_ids = set(report.canaries)
    strangers = set(report.statuses) - report.collected - canary_ids
    if strangers:
        found.append(
            f"tests are reported that were not asked for: {_some(strangers)}"
        )
    if report.malformed:
        found.append(f"the report of the test run was written to: {report.malformed}")
    if completed.timed_out:
        return tuple(found)
    if completed.exit_code == 0:
        found.append(
            "the test run ended with exit code 0, though a planted test must fail"
        )
    if report.finished:
        for canary, nonce in sorted(report.canaries.items()):
            if report.statuses.get(canary) not in ("failed", "error"):
                found.append("a planted test that must fail did not fail")
            elif report.statuses[canary] == "failed" and nonce not in report.texts.get(
                canary, ""
            ):
                found.append("a planted test failed in another way than it must")
        lost = (report.collected & set(asked)) - set(report.statuses)
        if lost:
            found.append(f"tests were collected but not run: {_some(lost)}")
    return tuple(dict.fromkeys(found))


def _some(ids: set[str]) -> str:
    shown = ", ".join(sorted(ids)[:3])
    return f"{shown} and {len(ids) - 3} more" if len(ids) > 3 else shown


def make_result(
    instance_id: str,
    report: TestReport,
    fail_to_pass: Sequence[str],
    pass_to_pass: Sequence[str],
    completed: Completed,
) -> EvalResult:
    """Return the result: resolved when every test that was asked for passed."""

    def statuses(tests: Sequence[str]) -> dict[str, TestStatus]:
        return {test: report.statuses.get(test, "missing") for test in tests}

    fixed, kept = statuses(fail_to_pass), statuses(pass_to_pass)
    resolved = not completed.timed_out and all(
        status == "passed" for status in (fixed | kept).values()
    )
    status: EvalStatus = "passed" if resolved else "failed"
    return EvalResult(
        instance_id=instance_id,
        status="timeout" if completed.timed_out else status,
        fail_to_pass_results=fixed,
        pass_to_pass_results=kept,
        resolved=resolved,
        error_message="" if resolved else _why(report, fixed | kept, completed),
        duration_seconds=completed.duration_seconds,
    )


def _why(
    report: TestReport, results: Mapping[str, TestStatus], completed: Completed
) -> str:
    """Return the first thing that a person would want to read."""
    if completed.timed_out:
        return f"the tests ran longer than {completed.duration_seconds:.0f} seconds"
    for test, status in results.items():
        if status != "passed" and test in report.texts:
            return f"{test}: {status}\n{report.texts[test]}"
    for place, text in report.collect_errors.items():
        return f"{place} cannot be collected\n{text}"
    if completed.exit_code < 0:
        return f"the test run was ended by signal {-completed.exit_code}"
    for test, status in results.items():
        if status != "passed":
            return f"{test}: {status}"
    return ""
