"""Cases that are selected and then not run: neither passed, failed, skipped nor error.

pytest has three outcomes. These reports are skipped ones to it, with a word, a letter
and a category of their own; JUnit has them as ``<skipped>`` with the reason.
"""

from __future__ import annotations

from collections.abc import Generator
from collections.abc import Mapping

import pytest
from _pytest.outcomes import Skipped


#: A property of such an item, with the reason in a word; its reports carry it.
NOT_RUN = "not_run"


class CaseNotRun(Skipped):
    """A case is not run: ``why`` in a word (``budget``, ``interrupted``), and how."""

    def __init__(self, why: str, reason: str) -> None:
        super().__init__(reason)
        self.why = why
        self.reason = reason


def is_not_run(report: pytest.CollectReport | pytest.TestReport) -> bool:
    """Say whether a report is of a case that was not run."""
    # The report of its teardown, which passed, has the property too.
    return report.skipped and NOT_RUN in dict(getattr(report, "user_properties", ()))


class NotRunReports:
    """Tells such a case apart in what pytest shows and counts."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark the report of a case that was not run."""
        error = call.excinfo.value if call.excinfo is not None else None
        if not isinstance(error, CaseNotRun):
            return (yield)
        item.user_properties.append((NOT_RUN, error.why))
        report = yield
        # pytest has the place of ours that raised it.
        report.longrepr = (report.location[0], 1, error.reason)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
        """Give it a category, a letter and a word."""
        if not is_not_run(report):
            return None
        return "not run", "n", ("NOT RUN", {"yellow": True})
