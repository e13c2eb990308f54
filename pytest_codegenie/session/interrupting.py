"""Ctrl-C and SIGTERM while cases run.

Ctrl-C once: what runs is finished, nothing more is started, the session reports. Again,
or SIGTERM: all is ended now. Before the first case and after the last, pytest does
what it always does.

With xdist the controller decides. Its workers leave the terminal, so that Ctrl-C comes
to the controller alone. It tells them to start nothing more by a file that they look
for before each item: they go through the rest of their items without a word, and the
session ends as if those had not been there. (``shouldstop`` would end the controller's
loop, and with it the cases of all other workers.) To stop now, it sends them SIGINT.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from typing import Literal

import pytest

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence import read_run_record
from pytest_codegenie.evidence import resume_command


#: In the run's scratch directory; workers start nothing while it is there.
STOP_FILE = "stop"
_FINISHES = (
    "interrupted: finishes what runs, starts nothing more; Ctrl-C again stops now"
)
_Handler = Callable[[int, FrameType | None], Any] | int | None


class Interrupting:
    """The process that the signals come to: the only one, or the controller of xdist.

    Args:
        config: Of pytest.
        stop_file: Where the workers look.
        run_directory: Of the run; None: nothing is recorded.
    """

    def __init__(
        self, config: pytest.Config, stop_file: Path, run_directory: Path | None
    ) -> None:
        self._config = config
        self._stop_file = stop_file
        self._run_directory = run_directory
        self._session: pytest.Session | None = None
        self._before: dict[int, _Handler] = {}
        self._state: Literal["running", "finishing", "stopping"] = "running"
        self._reason = ""
        #: No case runs any more: what is left is to report.
        self._over = False
        self._total = 0
        self._each = config.getoption("dist", "no") == "each"
        #: Nodes of xdist to their processes.
        self._workers: dict[object, int] = {}
        self._stderr = -1
        # While a case runs its output is captured, and our own would be too.
        with contextlib.suppress(OSError):
            self._stderr = os.dup(2)

    def notice(self) -> str:
        """Return what is to be said while cases run on; "" where none was asked to."""
        return _FINISHES if self._state == "finishing" else ""

    def begin(self, session: pytest.Session) -> None:
        """End the session in order from now on, when it is told to end."""
        self._session = session
        self._take(signal.SIGTERM, signal.SIG_DFL, self._on_sigterm)

    def _take(
        self, number: int, only_from: _Handler, handler: Callable[..., None]
    ) -> None:
        """Handle a signal that is handled as usual: others may have their reasons."""
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(number) == only_from:
            self._before[number] = signal.signal(number, handler)

    def _give_back(self, *numbers: int) -> None:
        for number in numbers:
            if number in self._before:
                signal.signal(number, self._before.pop(number))

    def _on_sigint(self, _number: int, _frame: FrameType | None) -> None:
        # The report of an interrupted session is short, and what it is there for:
        # those who press more often than they need shall have it too.
        if self._state == "running":
            self._finish_what_runs()
        elif self._state == "finishing" and not self._over:
            self._stop_now("stopped by a second Ctrl-C")

    def _on_sigterm(self, number: int, _frame: FrameType | None) -> None:
        if self._over and self._state == "running":
            raise SystemExit(128 + number)
        if self._state != "stopping" and not self._over:
            self._stop_now("stopped by SIGTERM")

    def _finish_what_runs(self) -> None:
        assert self._session is not None
        self._state = "finishing"
        self._reason = "Ctrl-C; what ran was finished"
        live = self._config.pluginmanager.getplugin("codegenie-live")
        with contextlib.suppress(OSError):
            self._stop_file.touch()
            if live is None or not live.drawing:
                os.write(self._stderr, f"\n{_FINISHES}\n".encode())
        if not self._config.pluginmanager.hasplugin("dsession"):
            self._session.shouldstop = self._reason

    def _stop_now(self, reason: str) -> None:
        assert self._session is not None
        self._state = "stopping"
        self._reason = reason
        self._interrupt_workers()
        raise self._session.Interrupted(reason)

    def _interrupt_workers(self) -> None:
        for pid in self._workers.values():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGINT)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Note a worker of this machine."""
        spec = node.gateway.spec
        if spec.popen and not spec.via:
            self._workers[node] = node.gateway._rinfo().pid

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Forget a worker: its number may become another process's."""
        self._workers.pop(node, None)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take how many cases are to run."""
        self._total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take how many cases are to run, from a worker."""
        self._total = (self._total if self._each else 0) + len(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """With the first case that runs there is something to be finished."""
        if signal.SIGINT not in self._before:
            self._take(signal.SIGINT, signal.default_int_handler, self._on_sigint)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        """Start nothing, where a signal came after pytest had looked."""
        self._end_if_told()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """End as interrupted, where workers have left cases out."""
        try:
            result = yield
            self._end_if_told()
            return result
        finally:
            if self._state == "running":
                self._give_back(signal.SIGINT)
            else:
                self._over = True

    def _end_if_told(self) -> None:
        if self._state == "finishing":
            assert self._session is not None
            raise self._session.Interrupted(self._reason)

    def pytest_keyboard_interrupt(self) -> None:
        """Stop the workers too, where pytest itself was interrupted."""
        if self._state == "running":
            self._interrupt_workers()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Wait for interrupted workers, so that what they recorded is reported."""
        if self._state == "stopping":
            xdist = self._config.pluginmanager.getplugin("dsession")
            if xdist is not None and xdist.nodemanager is not None:
                xdist.nodemanager.teardown_nodes()
        self._over = True

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what there is of an interrupted run, and where."""
        if self._state != "running" and self._run_directory and self._total:
            for line in self._what_there_is(self._run_directory):
                terminalreporter.write_line(line)

    def _what_there_is(self, run: Path) -> Iterator[str]:
        if not run.exists():
            yield f"interrupted: none of {self._total} cases has a result"
            return
        try:
            record = read_run_record(run)
            recorded = sum(1 for _ in read_plain_results(run))
        except RunStoreError as exc:
            yield f"interrupted: {exc}"
            return
        # Of a run that goes on, this session may have selected a part.
        total = max(self._total, len(record.items))
        place = relative(run)
        yield (
            f"interrupted: {recorded} of {total} cases have a result; the run is in "
            f"{place}"
        )
        if not self._each:
            yield f"resume it: {resume_command(record)}"

    def pytest_unconfigure(self) -> None:
        """Leave signals to whoever had them."""
        self._give_back(signal.SIGINT, signal.SIGTERM)
        with contextlib.suppress(OSError):
            os.close(self._stderr)


class StopsBeforeItems:
    """A worker of xdist: it looks before each item whether to go on.

    Args:
        stop_file: Of ``Interrupting``.
    """

    def __init__(self, stop_file: Path) -> None:
        self._stop_file = stop_file

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Take an item as done, without a report, when no more are to be started."""
        return True if self._stop_file.exists() else None


def leave_terminal() -> None:
    """Let Ctrl-C, which goes to all processes of a terminal, not come to this one."""
    with contextlib.suppress(OSError):
        os.setsid()
