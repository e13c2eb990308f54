"""SWE-bench's rule: from what a log says to what SWE-bench's harness would say of it.

It differs from our own (``agreement``) in what it lets pass: a test that is to go on
passing may be skipped, and a run may end with any exit code as long as something is
reported to have failed. Where output tells of failures alone (``swebench-fail-only``),
a test passes unless it failed, once the output shows that tests ran. References:
``swebench.harness.grading`` of SWE-bench 5.0.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping

from pytest_codegenie.evaluators.agreement import limit_reached
from pytest_codegenie.evaluators.agreement import readable
from pytest_codegenie.evaluators.agreement import why_not
from pytest_codegenie.evaluators.formats import Report
from pytest_codegenie.evaluators.protocol import Judgement
from pytest_codegenie.models import EvalResult
from pytest_codegenie.models import EvalStatus
from pytest_codegenie.models import TestStatus
from pytest_codegenie.processes import Completed


def conclude_as_swebench(
    judgement: Judgement, report: Report, completed: Completed
) -> EvalResult:
    """Return the result.

    A run that SWE-bench calls invalid has told nothing: every test is missing. Whose
    fault that is cannot be told, so it is no error, as SWE-bench has it too.

    Args:
        judgement: What was asked for.
        report: What the runner reports, the last result of a test counting.
        completed: How it ended.
    """
    objection = limit_reached(completed) or _invalid(report, completed)
    statuses = {} if objection else report.statuses
    if judgement.rule == "swebench-fail-only" and not objection:
        fixed = {test: _not_failed(test, statuses) for test in judgement.fail_to_pass}
        kept = {test: _not_failed(test, statuses) for test in judgement.pass_to_pass}
    else:
        fixed = {test: _status(test, statuses) for test in judgement.fail_to_pass}
        kept = {test: _kept(_status(test, statuses)) for test in judgement.pass_to_pass}
    resolved = not objection and _all_passed(fixed) and _all_passed(kept)
    status: EvalStatus = "passed" if resolved else "failed"
    message = ""
    if not resolved:
        message = why_not(fixed | kept, report, completed, objection)
        message = f"{_partly(fixed, kept)}{message}"
    return EvalResult(
        instance_id=judgement.instance_id,
        status="timeout" if completed.timed_out else status,
        fail_to_pass_results=fixed,
        pass_to_pass_results=kept,
        resolved=resolved,
        error_message=readable(message),
        duration_seconds=completed.duration_seconds,
    )


def _status(test: str, statuses: Mapping[str, TestStatus]) -> TestStatus:
    """Return a test's status.

    An id that stops in its parameters stands for all that begin so, where they agree
    on whether they passed; then it has the status of the first.
    """
    if test in statuses or test.count("[") <= test.count("]"):
        return statuses.get(test, "missing")
    found = [status for name, status in statuses.items() if name.startswith(test)]
    agree = len({status == "passed" for status in found}) == 1
    return found[0] if agree else "missing"


def _kept(status: TestStatus) -> TestStatus:
    """Return what a test that is to go on passing counts as: skipped is kept."""
    return "passed" if status == "skipped" else status


def _not_failed(test: str, statuses: Mapping[str, TestStatus]) -> TestStatus:
    """Return a test's status where failures are all that is known; ids are whole."""
    return "failed" if statuses.get(test) == "failed" else "passed"


def _invalid(report: Report, completed: Completed) -> str:
    """Say why SWE-bench would not believe the log; "" if it would."""
    if report.faults:
        return f"the output cannot be believed: {'; '.join(report.faults[:3])}"
    if completed.exit_code and report.statuses and not report.failures():
        return (
            f"the test run ended with exit code {completed.exit_code}, but reports no "
            "failure"
        )
    return ""


def _all_passed(results: Mapping[str, TestStatus]) -> bool:
    return set(results.values()) <= {"passed"}


def _partly(fixed: Mapping[str, TestStatus], kept: Mapping[str, TestStatus]) -> str:
    """Say that it is what SWE-bench calls partly resolved; "" if it is not."""
    passed = _count(fixed.values())
    if not 0 < passed < len(fixed) or not _all_passed(kept):
        return ""
    return (
        f"partly resolved: {passed} of {len(fixed)} fail_to_pass pass, and all of "
        "pass_to_pass\n"
    )


def _count(statuses: Iterable[TestStatus]) -> int:
    return sum(status == "passed" for status in statuses)
