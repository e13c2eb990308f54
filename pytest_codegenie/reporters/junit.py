"""The reporter ``junit``: what ``--junitxml`` writes of the same run, made later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from xml.sax.saxutils import escape
from xml.sax.saxutils import quoteattr

from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import Overview
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.telling import AMBIGUOUS
from pytest_codegenie.reporters.telling import describe
from pytest_codegenie.reporters.telling import result_properties


#: What XML 1.0 cannot hold, however it is written, and DEL.
_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: The parts of the counts on a test suite.
_COUNTED = ("errors", "failures", "skipped")


class JunitReporter:
    """The ``xunit2`` of pytest: test cases with the properties that a session gives.

    A case's time is that of its phases. An item without a result is no test case.
    """

    name = "junit"
    suffix = "xml"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield the document."""
        overview = run.overview()
        node_ids = {item.partition("::")[2]: item for item in run.record.items}
        kinds = Counter(_kind(result) for result in run.results())
        yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="pytest tests">'
        yield _start("testsuite", _suite_attributes(run, overview, kinds))
        yield from _properties(suite_properties(run, overview.groups))
        trials = run.record.config.get("trials", 1) != 1
        for result in run.results():
            yield from _test_case(run, result, node_ids, trials=trials)
        yield "</testsuite></testsuites>\n"


def suite_properties(
    run: StoredRun, groups: Iterable[Group]
) -> Iterator[tuple[str, object]]:
    """Yield a run as JUnit properties of its test suite; what is unknown is left out.

    Args:
        run: The run.
        groups: What it came to.
    """
    record = run.record
    yield "codegenie.run_id", record.run_id
    yield "codegenie.run", relative(run.directory)
    yield "codegenie.version", record.versions.get("pytest-codegenie", "unknown")
    yield "codegenie.workspace", record.config.get("workspace", "unknown")
    if record.chain_head:
        yield "codegenie.chain_head", record.chain_head
    for group in groups:
        values = {
            "passed": group.passed,
            "failed": group.failed,
            "errors": group.errors,
            "ambiguous": group.ambiguous,
            "mean_score": group.mean_score,
            "lower_bound_95": group.bound().value,
        }
        for key, value in values.items():
            if value is not None:
                yield f"codegenie.{group.task_class}.{group.agent}.{key}", value


def _suite_attributes(
    run: StoredRun, overview: Overview, kinds: Counter[str]
) -> dict[str, object]:
    began = run.record.started_at
    ended = overview.ended_at or began
    return {
        "name": "pytest",
        **{kind: kinds[kind] for kind in _COUNTED},
        "tests": kinds.total(),
        "time": f"{max(0.0, (ended - began).total_seconds()):.3f}",
        "timestamp": began.isoformat(),
    }


def _kind(result: CaseResult) -> str:
    """Return what a result is counted as."""
    if result.outcome == "error":
        return "errors"
    if result.outcome == "passed":
        return "passed"
    return "skipped" if result.disposition == "ambiguous" else "failures"


def _test_case(
    run: StoredRun, result: CaseResult, node_ids: dict[str, str], *, trials: bool
) -> Iterator[str]:
    suffix = f"-t{result.trial}" if trials else ""
    name = f"{result.case_id}[{result.agent}{suffix}]"
    attributes = {
        "classname": _class_name(node_ids.get(name, result.task_class)),
        "name": name,
        "time": f"{sum(result.timings.values()):.3f}",
    }
    place = run.artifacts(result)
    artifacts = None if place is None else run.directory / place
    yield _start("testcase", attributes)
    yield from _properties(result_properties(result, artifacts))
    lines = describe(result, artifacts)
    match _kind(result):
        case "errors":
            # As pytest says it of what comes from a set-up.
            yield _element("error", f'failed on setup with "{lines[0]}"', lines)
        case "failures":
            yield _element("failure", lines[0], lines)
        case "skipped":
            kind = {"type": "pytest.xfail", "message": AMBIGUOUS}
            yield _start("skipped", kind) + "</skipped>"
    yield "</testcase>"


def _class_name(node_id: str) -> str:
    """Return what pytest makes of a node id: its path, with dots."""
    return node_id.partition("::")[0].replace("/", ".")


def _properties(properties: Iterable[tuple[str, object]]) -> Iterator[str]:
    yield "<properties>"
    for name, value in properties:
        yield _start("property", {"name": name, "value": value}) + "</property>"
    yield "</properties>"


def _element(tag: str, message: str, lines: Iterable[str]) -> str:
    text = escape(_legal("\n".join(lines)))
    return f"{_start(tag, {'message': message})}{text}</{tag}>"


def _start(tag: str, attributes: dict[str, object] | dict[str, str]) -> str:
    written = (f" {k}={quoteattr(_legal(str(v)))}" for k, v in attributes.items())
    return f"<{tag}{''.join(written)}>"


def _legal(text: str) -> str:
    """Return a text with what XML cannot hold written out, as pytest does."""
    return _ILLEGAL.sub(lambda found: f"#x{ord(found[0]):02X}", text)
