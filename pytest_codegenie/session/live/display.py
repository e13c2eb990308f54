"""When the live lines are drawn: by the process that has pytest's terminal."""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections.abc import Callable
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from pytest_codegenie.harness.progress import CaseProgress
from pytest_codegenie.harness.progress import read_progress
from pytest_codegenie.logs import emit
from pytest_codegenie.session.live.area import TerminalArea
from pytest_codegenie.session.live.board import Board
from pytest_codegenie.session.not_running import is_not_run
from pytest_codegenie.session.provenance import provenance_of
from pytest_codegenie.session.resuming import FROM_RECORD


_PAUSE_SECONDS = 0.25
#: Options (their dests) with which no case runs, or pytest is not alone.
_NO_LINES_WITH = ("collectonly", "setuponly", "setupplan", "usepdb", "trace")
#: Left to pytest, so that its own last lines stay in sight.
_LINES_ABOVE = 3


def draws_for(config: pytest.Config) -> bool:
    """Say whether a session's terminal gets live lines.

    It has to be a terminal that somebody looks at, with nothing on it but what
    pytest's own reporter writes.
    """
    reporter = config.pluginmanager.getplugin("terminalreporter")
    # Another plugin's reporter may move the cursor.
    if type(reporter) is not TerminalReporter or reporter.verbosity < 0:
        return False
    if any(config.getoption(name, False) for name in _NO_LINES_WITH):
        return False
    if config.getoption("capture", "no") not in ("fd", "sys"):
        return False
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        return False
    file = reporter._tw._file
    return file.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class LiveDisplay:
    """Follows a session by pytest's hooks and draws from a thread of its own.

    A thread, because in a session without xdist the main one runs the cases.

    Args:
        config: Of pytest; ``draws_for`` it.
        directory: Where a case tells how far it is, in a file of its item's name.
        notice: What else is to be said just now; "" for nothing.
    """

    def __init__(
        self, config: pytest.Config, directory: Path, notice: Callable[[], str]
    ) -> None:
        self._writer = config.get_terminal_writer()
        self._each = config.getoption("dist", "no") == "each"
        self._directory = directory
        self._notice = notice
        self._lock = threading.Lock()
        self._board = Board(self._progress, colours=self._writer.hasmarkup)
        self._nodes: set[object] = set()
        #: Node ids of items that are being reported from a record.
        self._from_record: set[str] = set()
        self._area: TerminalArea | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._draw_on, name="codegenie-live", daemon=True
        )

    @property
    def drawing(self) -> bool:
        """Whether there are lines, or will be in a moment."""
        return self._area is not None and self._area.is_open

    def _progress(self, nodeid: str) -> CaseProgress:
        return read_progress(self._directory / item_name(nodeid))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Draw while cases run."""
        try:
            return (yield)
        finally:
            self.stop()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take how many cases are to run."""
        self._board.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take how many cases are to run, from a worker."""
        times = len(self._nodes) if self._each else 1
        self._board.total = len(ids) * times

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Count a worker."""
        self._nodes.add(node)
        self._board.workers = max(1, len(self._nodes))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Count a worker no more."""
        self._nodes.discard(node)
        self._board.workers = max(1, len(self._nodes))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Take it that a case begins; with the first, begin to draw."""
        with self._lock:
            self._board.start(nodeid, time.monotonic())
        if self._area is None and not self._ended.is_set():
            self._start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what came of a case."""
        provenance = provenance_of(report)
        if getattr(report, FROM_RECORD, False) or provenance == "verdict-cache":
            self._from_record.add(report.nodeid)
        kind = _kind(report)
        if kind:
            with self._lock:
                self._board.counts[kind] += 1
                self._board.recalled += provenance in ("patch-cache", "verdict-cache")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Take it that a case has ended."""
        ran = nodeid not in self._from_record
        self._from_record.discard(nodeid)
        with self._lock:
            self._board.finish(nodeid, time.monotonic(), ran=ran)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        """Take it that a case has ended with its worker."""
        self.pytest_runtest_logfinish(crashitem)

    def pytest_enter_pdb(self) -> None:
        """Leave the terminal to the debugger; it has written a headline by now."""
        self.stop(below=True)

    def _start(self) -> None:
        try:
            self._area = TerminalArea(self._writer, self._gave_up)
            self._thread.start()
        except (OSError, RuntimeError, ValueError) as exc:
            self._gave_up(exc)

    def stop(self, *, below: bool = False) -> None:
        """Draw no more; the terminal is as if nothing had been drawn.

        Args:
            below: As in ``TerminalArea.close``.
        """
        self._ended.set()
        if self._area is not None:
            self._area.close(below=below)
        if self._thread.is_alive():
            self._thread.join(timeout=5 * _PAUSE_SECONDS)

    def _draw_on(self) -> None:
        assert self._area is not None
        while not self._ended.wait(_PAUSE_SECONDS):
            self._area.show(self._compose)

    def _compose(self, columns: int, rows: int) -> list[str]:
        with self._lock:
            return self._board.lines(
                columns, rows - _LINES_ABOVE, time.monotonic(), self._notice()
            )

    def _gave_up(self, error: Exception) -> None:
        # A run is more than its lines.
        self._ended.set()
        trace = "".join(traceback.format_exception(error))
        emit("live.gave_up", level="warning", trace=trace)


def item_name(nodeid: str) -> str:
    """Return the name of an item; xdist may have added a group to its node id."""
    name = nodeid.rpartition("::")[2]
    return name[: name.rfind("]") + 1]


def _kind(report: pytest.TestReport) -> str:
    """Return what a report adds one to; "" for nothing."""
    if report.failed and report.when != "call":
        return "errors"
    if hasattr(report, "wasxfail"):
        return "ambiguous"
    if report.skipped:
        return "not run" if is_not_run(report) else "skipped"
    return report.outcome if report.when == "call" else ""
