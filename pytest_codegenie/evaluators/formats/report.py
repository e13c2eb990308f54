"""What a test runner reports, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

from pytest_codegenie.models import TestStatus


_TEXT_LIMIT = 4000
#: Of several results of one test the later in this order counts.
_ORDER: tuple[TestStatus, ...] = ("missing", "passed", "skipped", "failed", "error")


@dataclass(slots=True)
class Report:
    """Tests by id, and what keeps the whole from being believed."""

    statuses: dict[str, TestStatus] = field(default_factory=dict)
    #: What a failed test says.
    texts: dict[str, str] = field(default_factory=dict)
    #: What failed and is no test, such as a package that does not build.
    other_failures: list[str] = field(default_factory=list)
    #: Why it is broken off or contradicts itself; empty: it is whole.
    faults: list[str] = field(default_factory=list)

    def add(self, test: str, status: TestStatus, text: str = "") -> None:
        """Add a result; where a test has several, the worst counts."""
        known = self.statuses.get(test, "missing")
        self.statuses[test] = max(known, status, key=_ORDER.index)
        if text and status in ("failed", "error"):
            self.texts.setdefault(test, text[-_TEXT_LIMIT:])

    def fail(self, text: str) -> None:
        """Add a failure that is none of a test."""
        self.other_failures.append(text[-_TEXT_LIMIT:])

    def failures(self) -> list[str]:
        """Return the ids of the tests that failed, in the order of the report."""
        return [
            test
            for test, status in self.statuses.items()
            if status in ("failed", "error")
        ]

    def merge(self, other: Report) -> None:
        """Add all that another report says."""
        for test, status in other.statuses.items():
            self.add(test, status, other.texts.get(test, ""))
        self.other_failures += other.other_failures
        self.faults += other.faults

    def relative_to(self, directory: str) -> Report:
        """Return the report with ids that start with a path relative to a directory."""
        prefix = directory.rstrip("/") + "/"
        report = Report(other_failures=self.other_failures, faults=self.faults)
        for test, status in self.statuses.items():
            report.add(test.removeprefix(prefix), status, self.texts.get(test, ""))
        return report
