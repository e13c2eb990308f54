"""JUnit XML, as dozens of tools write it, each a little differently."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

# Expat itself, as declarations can be refused there: they are what attacks are made of.
from xml.parsers import expat

from pytest_codegenie.evaluators.formats.report import Report
from pytest_codegenie.models import TestStatus


_RESULTS: Mapping[str, TestStatus] = {
    # The first that is there counts: a to-do that fails is both.
    "skipped": "skipped",
    "error": "error",
    "failure": "failed",
}


@dataclass(slots=True)
class _Suite:
    """A ``<testsuite>``: what it says of itself, and what is in it."""

    attributes: Mapping[str, str]
    #: Tests and suites directly in it.
    children: int = 0
    tests: int = 0
    failures: int = 0

    def disagreements(self) -> Iterator[str]:
        """Say how its own counts differ from its content."""
        name = self.attributes.get("name", "")
        told = self._told("tests")
        # pytest counts a test twice that passes and fails in its teardown; Node counts
        # what is directly in a suite.
        counts = (*range(self.tests, self.tests + self.failures + 1), self.children)
        if told is not None and told not in counts:
            yield f"suite {name!r} tells of {told} tests, but lists {self.tests}"
        failures, errors = self._told("failures"), self._told("errors")
        if failures is not None and bool(failures + (errors or 0)) != bool(
            self.failures
        ):
            yield (
                f"suite {name!r} tells of {failures} failures and {errors or 0} "
                f"errors, but lists {self.failures}"
            )

    def _told(self, key: str) -> int | None:
        value = self.attributes.get(key, "")
        return int(value) if value.isascii() and value.isdigit() else None


@dataclass(slots=True)
class _Case:
    """A ``<testcase>``."""

    attributes: Mapping[str, str]
    results: dict[str, list[str]] = field(default_factory=dict)

    @property
    def test(self) -> str:
        """Its id."""
        group, name = (self.attributes.get(key, "") for key in ("classname", "name"))
        return f"{group}.{name}" if group and group != name else name

    def result(self) -> tuple[TestStatus, str]:
        """Return how it ended, and what it says."""
        for kind, status in _RESULTS.items():
            if kind in self.results:
                return status, "\n".join(filter(None, self.results[kind]))
        # So GoogleTest tells of what it left out.
        if self.attributes.get("status", "run") in ("notrun", "skipped", "disabled"):
            return "skipped", ""
        return "passed", ""


class _Reader:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.suites: list[_Suite] = []
        self.case: _Case | None = None
        #: Gets text: that of a result.
        self.text: list[str] | None = None
        self.root = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = self.root or tag
        if tag == "testsuite":
            if self.suites:
                self.suites[-1].children += 1
            self.suites.append(_Suite(attributes))
        elif tag == "testcase":
            self.case = _Case(attributes)
        elif tag in _RESULTS and self.case is not None:
            self.text = [attributes.get("message", "")]
            self.case.results[tag] = self.text

    def end(self, tag: str) -> None:
        if tag == "testcase" and self.case is not None:
            self._end_case(self.case)
            self.case = None
        elif tag == "testsuite" and self.suites:
            suite = self.suites.pop()
            self.report.faults += suite.disagreements()
            if self.suites:
                self.suites[-1].tests += suite.tests
                self.suites[-1].failures += suite.failures
        elif tag in _RESULTS:
            self.text = None

    def data(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _end_case(self, case: _Case) -> None:
        status, text = case.result()
        self.report.add(case.test, status, text)
        if self.suites:
            self.suites[-1].children += 1
            self.suites[-1].tests += 1
            self.suites[-1].failures += status in ("failed", "error")

    def refuse(self, *_declaration: object) -> None:
        raise ValueError("it declares a document type, which no test report needs")


def parse(data: bytes) -> Report:
    """Read a report; ids are ``<classname>.<name>``, or the name alone without one.

    The counts of each suite have to agree with the tests that it lists.
    """
    report = Report()
    reader = _Reader(report)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = reader.refuse
    try:
        parser.Parse(data, True)
        if reader.root not in ("testsuites", "testsuite"):
            raise ValueError(f"its root is <{reader.root}>")
    except (expat.ExpatError, ValueError, LookupError) as exc:
        report.faults.append(f"it is no whole JUnit XML: {exc}")
    return report
