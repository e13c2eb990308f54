"""Asking what an agent has used while it still works, for whoever wants to know."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from pytest_codegenie.agents import InstalledAgent
from pytest_codegenie.agents import TellsUsage
from pytest_codegenie.agents import Usage
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.records import read_records
from pytest_codegenie.harness.spending import Spending


_EVERY_SECONDS = 2.0
#: How often it looks whether others have spent what there was.
_LOOK_SECONDS = 0.5
#: Of what it has printed; more is not read again and again.
_LOG_BYTES = 4 << 20


class UsageWatch:
    """Tells what an agent has used by now, again and again until the block ends.

    It does so where somebody watches, and where there is a budget: that may have an
    agent ended which itself tells nothing.

    Args:
        read: Returns what it used by now.
        progress: Told of it for people.
        spending: Told of it for the budget.
    """

    def __init__(
        self, read: Callable[[], Usage], progress: Progress, spending: Spending
    ) -> None:
        self._read = read
        self._progress = progress
        self._spending = spending
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._progress.is_watched or self._spending.is_limited:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        pause = _LOOK_SECONDS if self._spending.is_limited else _EVERY_SECONDS
        due = time.monotonic() + _EVERY_SECONDS
        while not self._ended.wait(pause):
            # On a full disk the case's end says so, if it lasts.
            with contextlib.suppress(RunStoreError):
                if time.monotonic() >= due:
                    self._look()
                    due = time.monotonic() + _EVERY_SECONDS
                self._spending.check()

    def _look(self) -> None:
        usage = self._usage()
        self._progress.update(tokens=usage.tokens, cost_usd=usage.cost_usd)
        self._spending.tell(usage.cost_usd)

    def _usage(self) -> Usage:
        try:
            return self._read()
        except Exception:
            # An adapter is anybody's code; nothing is known then.
            self._read = Usage
            return Usage()


def reader_of_usage(
    agent: object, home: Path, log_path: Path | None
) -> Callable[[], Usage]:
    """Return what reads an agent's output and records for what it used by now.

    Args:
        agent: Any; one that is no ``TellsUsage`` has never told anything.
        home: Its home, on the host.
        log_path: Where its output goes; None: nowhere.
    """
    if not isinstance(agent, TellsUsage):
        return Usage

    patterns = agent.get_record_patterns() if isinstance(agent, InstalledAgent) else ()

    def read() -> Usage:
        return agent.read_usage(_printed(log_path), read_records(home, patterns))

    return read


def _printed(log_path: Path | None) -> str:
    if log_path is None or not log_path.exists():
        return ""
    with log_path.open("rb") as file:
        return file.read(_LOG_BYTES).decode(errors="replace")
