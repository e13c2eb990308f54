"""What a session ends in: the one place where exit codes are weighed against another.

The first that holds, from above:

1. what stopped the run, or is wrong with its record: the audit chain (8), a task class
   (9), the corpus (6), the cost cap (7); a run that cannot be resumed with this (4)
2. pytest's own, other than passed and failed: interrupted, internal error, usage error,
   nothing collected (2 to 5)
3. 1, where something is an ERROR, or where the session ended early (``-x``)
4. 10, where a gate is not met
5. 0, where lower bounds are required and reached: FAILED cases are in them
6. pytest's: 0, or 1 for a FAILED case
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_codegenie.errors import EXIT_CHAIN
from pytest_codegenie.errors import EXIT_CORPUS
from pytest_codegenie.errors import EXIT_COST
from pytest_codegenie.errors import EXIT_GATE
from pytest_codegenie.errors import EXIT_TASK_CLASS
from pytest_codegenie.session.not_running import is_not_run
from pytest_codegenie.session.resuming import plain_nodeid


#: An attribute of reports: xdist carries what a report has beyond pytest's own.
EXIT_CODE = "codegenie_exit_code"
_EXIT_USAGE = int(pytest.ExitCode.USAGE_ERROR)
_STOPPING = (EXIT_CHAIN, EXIT_TASK_CLASS, EXIT_CORPUS, EXIT_COST, _EXIT_USAGE)
_NAMED = 5


class Ending:
    """Watches how a session goes, to say what it ends in. It is a plugin."""

    def __init__(self) -> None:
        self._stopped: set[int] = set()
        #: Something beside the cases went wrong.
        self._faulty = False
        #: Something is an ERROR.
        self._errors = False
        #: Node ids of items that were reported, as passed, failed, error or skipped.
        self._reported: set[str] = set()

    def stop(self, code: int) -> None:
        """Take note of what stopped the session.

        Args:
            code: 4, 6 to 9, or 1 for an error that is none of a case's.
        """
        if code in _STOPPING:
            self._stopped.add(code)
        elif code:
            self._faulty = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of what cannot be collected or does not verify, on workers too."""
        self.stop(getattr(report, EXIT_CODE, 0))
        self._errors = self._errors or report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of an item that is done, and of an ERROR."""
        self.stop(getattr(report, EXIT_CODE, 0))
        if (report.when == "call" or not report.passed) and not is_not_run(report):
            self._reported.add(plain_nodeid(report.nodeid))
        said = dict(report.user_properties)
        is_verdict = report.when == "call" and said.get("passed") == "false"
        self._errors = self._errors or (report.failed and not is_verdict)

    def unfinished(self, items: Iterable[str]) -> str:
        """Say which items were never reported; "" where all were.

        Args:
            items: Node ids of those that were to run.
        """
        every = list(items)
        missing = [one for one in every if plain_nodeid(one) not in self._reported]
        if not missing:
            return ""
        named = ", ".join(one.rpartition("::")[2] for one in missing[:_NAMED])
        more = ", ..." if len(missing) > _NAMED else ""
        return f"ended early: {len(missing)} of {len(every)} not run ({named}{more})"

    def exit_code(
        self, code: int, *, whole: bool, gates: bool | None, bounds: bool
    ) -> int:
        """Return what the session ends in.

        Args:
            code: Pytest's.
            whole: All that was to run was run.
            gates: All are met; None: there is none.
            bounds: Lower bounds are among them, and stand in for passing every case.
        """
        for stopped in _STOPPING:
            if stopped in self._stopped:
                return stopped
        failed = int(pytest.ExitCode.TESTS_FAILED)
        if code not in (0, failed):
            return code
        if self._faulty or (code == failed and (self._errors or not whole)):
            return failed
        if gates is False:
            return EXIT_GATE
        return 0 if gates and bounds else code
