"""Reading the report of a test run as a hostile witness's statement.

Report, exit code and what was asked for have to agree. In every test module one
planted test with a random name must have failed, with a text that only we know. Each
line carries a code that only the run's own witness can make. Where something does not
agree, somebody tampered; where a run just broke off, the tests that are missing say
so.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from collections.abc import Iterator
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
#: More than the report of any real test run.
_MAX_REPORT_BYTES = 256 << 20
#: Exit code of pytest, and of our unittest runner, when it ran all and some failed.
_TESTS_FAILED = 1
#: By signal; a crash at the interpreter's end proves nothing.
_CRASHED = range(-64, 0)


@dataclass(slots=True)
class TestReport:
    """What a report says."""

    __test__ = False  # pytest would take it for a class of tests

    #: The run came as far as to let the tree in.
    began: bool = False
    collected: set[str] = field(default_factory=set)
    #: Id to the first line of what its documentation says, where that is its name.
    titles: dict[str, str] = field(default_factory=dict)
    #: Id to the text that its failure must show.
    canaries: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, TestStatus] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    collect_errors: dict[str, str] = field(default_factory=dict)
    #: Passed by the report, though the test raised.
    denied: set[str] = field(default_factory=set)
    #: What the judged code changed of the test run itself.
    intrusions: list[str] = field(default_factory=list)
    #: The exit code that the run was going to end with; None: it broke off.
    exit_code: int | None = None
    #: What in it is no report at all; empty if it is one.
    malformed: str = ""


def read_report(
    path: Path, key: bytes, *, may_fail: Callable[[str], bool] = lambda test: False
) -> TestReport:
    """Return what the report says; a missing one says nothing.

    Args:
        path: The report.
        key: What its lines are signed with.
        may_fail: Says of a test id whether its files speak of expected failures at
            all; only then one counts as passed.
    """
    report = TestReport()
    for number, line in enumerate(_read(path).split(b"\n")[:-1]):
        code, _, data = line.partition(b" ")
        signed = hashlib.blake2b(data, key=key, digest_size=16).hexdigest()
        try:
            event = json.loads(data) if code == signed.encode() else {}
            if event["number"] != number:
                raise ValueError(number)
            _take(report, event, may_fail)
        except (ValueError, KeyError, TypeError, AttributeError):
            report.malformed = f"line {number + 1} is not the test run's own"
            break
    return report


def _read(path: Path) -> bytes:
    """Return a file's content, b"" where there is none: judged code could write it."""
    try:
        # Neither a link nor a FIFO may lead or hold us anywhere.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return b"no report\n"
        with open(fd, "rb", closefd=False) as file:
            data = file.read(_MAX_REPORT_BYTES + 1)
    finally:
        os.close(fd)
    return data if len(data) <= _MAX_REPORT_BYTES else b"no report\n"


def _take(
    report: TestReport, event: Mapping[str, Any], may_fail: Callable[[str], bool]
) -> None:
    kind = event["kind"]
    if kind == "began":
        report.began = True
    elif kind == "collected":
        report.collected.update(event["tests"])
        report.canaries.update(event["canaries"])
        report.titles.update(event.get("titles", {}))
    elif kind == "collect_error":
        report.collect_errors[event["place"]] = str(event["text"])[-_TEXT_LIMIT:]
    elif kind == "intrusion":
        report.intrusions.append(str(event["text"])[:_TEXT_LIMIT])
    elif kind == "finished":
        report.exit_code = int(event["exit_code"])
    elif kind == "test":
        test = event["test"]
        status = _status(event, may_fail=may_fail(test))
        if status is None:
            return
        if status == "passed" and event["raised"] and not event["xfail"]:
            report.denied.add(test)
        if report.statuses.get(test) in (None, "passed"):
            report.statuses[test] = status
        if status != "passed":
            report.texts.setdefault(test, str(event["text"])[-_TEXT_LIMIT:])
    else:
        raise ValueError(kind)


def _status(event: Mapping[str, Any], *, may_fail: bool) -> TestStatus | None:
    """Return what one phase of a test says; None: nothing that counts.

    An expected failure counts as passed, as in SWE-bench, where the test's own files
    expect it: judged code can ask for one too (``pytest.xfail()``).
    """
    outcome, when = event["outcome"], event["when"]
    if event["xfail"] and outcome in ("skipped", "passed"):
        return "passed" if may_fail or outcome == "passed" else "skipped"
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

    A run that crashed, was interrupted or ran out of time explains tests that are
    missing; a run that says all is well does not.
    """
    found = list(report.intrusions)
    strangers = set(report.statuses) - report.collected - set(report.canaries)
    if strangers:
        found.append(f"tests are reported that were not asked for: {_some(strangers)}")
    if report.denied:
        found.append(
            f"tests failed, but are reported as passed: {_some(report.denied)}"
        )
    if report.malformed:
        found.append(f"the report of the test run was written to: {report.malformed}")
    if not completed.timed_out:
        found += _end_disagreements(report, set(asked), completed.exit_code)
    return tuple(dict.fromkeys(found))


def _end_disagreements(
    report: TestReport, asked: set[str], exit_code: int
) -> Iterator[str]:
    planted = {canary: report.statuses.get(canary) for canary in report.canaries}
    # Where a module skips itself, the planted test is skipped with all others.
    all_skipped = report.exit_code == 0 and set(planted.values()) == {"skipped"}
    if exit_code == 0 and not all_skipped and (planted or not report.collected):
        yield "the test run ended with exit code 0, though a planted test must fail"
    elif report.exit_code is not None and exit_code not in (
        report.exit_code,
        *_CRASHED,
    ):
        yield (
            f"the test run ended with exit code {exit_code}, but its report says "
            f"{report.exit_code}"
        )
    all_passed = all(report.statuses.get(test) == "passed" for test in asked)
    for canary, nonce in sorted(report.canaries.items()):
        status = planted[canary]
        if status == "passed":
            yield "a planted test that must fail did not fail"
        elif status == "failed" and nonce not in report.texts.get(canary, ""):
            yield "a planted test failed in another way than it must"
        elif all_passed and status not in ("failed", "error"):
            yield "all tests passed, but a planted test among them did not run"
    if all_passed and report.exit_code is None:
        yield "all tests passed, but the test run did not come to its end"
    if report.exit_code == _TESTS_FAILED and not report.collect_errors:
        lost = (report.collected & asked) - set(report.statuses)
        if lost:
            yield f"tests were collected but not run: {_some(lost)}"


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
    """Return the result.

    Resolved: every test that was asked for passed, and the run ended as it does when
    nothing fails but the planted tests.
    """

    def statuses(tests: Sequence[str]) -> dict[str, TestStatus]:
        return {test: report.statuses.get(test, "missing") for test in tests}

    fixed, kept = statuses(fail_to_pass), statuses(pass_to_pass)
    ended_well = completed.exit_code == _TESTS_FAILED and not completed.timed_out
    resolved = ended_well and all(
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
    ended = f"the test run ended with exit code {completed.exit_code}"
    for test, status in results.items():
        if status != "passed":
            return f"{test}: {status}; {ended}"
    return ended
