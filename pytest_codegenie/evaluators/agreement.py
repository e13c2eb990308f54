"""From a report and an exit code, two witnesses that have to agree, to a verdict.

Resolved when every test that is asked for passed. A test that was skipped, or did not
run, has not. SWE-bench's harness lets more pass: ``swebench_rule``.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


#: By a signal: of the program itself, or as a shell tells of one.
_CRASHED = (*range(-64, 0), *range(129, 129 + 64))
_TEXT_LIMIT = 4000


def conclude(
    judgement: Judgement, report: Report, completed: Completed, *, exact: bool = True
) -> EvalResult:
    """Return the result.

    Args:
        judgement: What was asked for.
        report: What the runner reports.
        completed: How it ended.
        exact: What the report says to have failed did fail; False where it is read
            from output, which may tell of tests of tests.
    """
    fixed = _statuses(judgement.fail_to_pass, report)
    kept = _statuses(judgement.pass_to_pass, report)
    objection = _objection(report, completed, exact=exact)
    resolved = not objection and all(
        status == "passed" for status in (fixed | kept).values()
    )
    status: EvalStatus = "passed" if resolved else "failed"
    return EvalResult(
        instance_id=judgement.instance_id,
        status="timeout" if completed.timed_out else status,
        fail_to_pass_results=fixed,
        pass_to_pass_results=kept,
        resolved=resolved,
        error_message=""
        if resolved
        else readable(why_not(fixed | kept, report, completed, objection)),
        duration_seconds=completed.duration_seconds,
    )


def _statuses(tests: tuple[str, ...], report: Report) -> dict[str, TestStatus]:
    return {test: _status(test, report.statuses) for test in tests}


def _status(test: str, statuses: Mapping[str, TestStatus]) -> TestStatus:
    """Return a test's status.

    SWE-bench's data have ids of parametrised tests that are cut off at a space. Such a
    one stands for all ids that begin so, where they agree.
    """
    if test in statuses or "[" not in test or test.endswith("]"):
        return statuses.get(test, "missing")
    candidates = {status for name, status in statuses.items() if name.startswith(test)}
    return candidates.pop() if len(candidates) == 1 else "missing"


def _objection(report: Report, completed: Completed, *, exact: bool) -> str:
    """Say why the report is not to be believed; "" if exit code and report agree."""
    code = completed.exit_code
    failures = report.failures()
    if ended := limit_reached(completed):
        return ended
    if report.faults:
        return f"the report cannot be believed: {'; '.join(report.faults[:3])}"
    if code in _CRASHED:
        return f"the test run was ended by signal {-code if code < 0 else code - 128}"
    if code and not failures and not report.other_failures:
        return f"the test run ended with exit code {code}, but reports no failure"
    if code == 0 and exact and failures:
        return f"the test run ended with exit code 0, but {failures[0]} failed"
    return ""


def limit_reached(completed: Completed) -> str:
    """Say which limit ended a test run; "" if it ended by itself."""
    if completed.timed_out:
        return f"the tests ran longer than {completed.duration_seconds:.0f} seconds"
    if completed.exceeded:
        return f"the test run was ended: {completed.exceeded}"
    return ""


def why_not(
    results: Mapping[str, TestStatus],
    report: Report,
    completed: Completed,
    objection: str,
) -> str:
    """Return the first thing that a person would want to read.

    Args:
        results: Of the tests that were asked for.
        report: What the runner reports.
        completed: How it ended.
        objection: Why the report is not believed; "": it is.
    """
    for test, status in results.items():
        if status in ("failed", "error"):
            return f"{test}: {status}\n{report.texts.get(test, '')}".strip()
    not_passed = [test for test, status in results.items() if status != "passed"]
    ended = objection or f"the test run ended with exit code {completed.exit_code}"
    lines = [f"{test}: {results[test]}" for test in not_passed[:1]]
    lines += [ended, *report.other_failures[:1]]
    if not report.statuses or objection:
        output = completed.stdout + b"\n" + completed.stderr
        lines.append(output.decode(errors="replace").strip()[-_TEXT_LIMIT:])
    return "\n".join(lines).strip()


def readable(text: str) -> str:
    """Return text that can be recorded; JSON and file names may hold half a letter."""
    return text.encode(errors="replace").decode()
