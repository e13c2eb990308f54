"""Telling what an agent has used while it still works, where somebody watches."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

from pytest_codegenie.agents import InstalledAgent
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.records import read_records


_EVERY_SECONDS = 2.0
#: Of what it has printed; more is not read again and again.
_LOG_BYTES = 4 << 20


class UsageWatch:
    """Asks an agent's records for what it has used, until the block ends."""

    def __init__(
        self,
        agent: InstalledAgent,
        home: Path,
        log_path: Path | None,
        progress: Progress,
    ) -> None:
        self._agent = agent
        self._home = home
        self._log_path = log_path
        self._progress = progress
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._progress.is_watched:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            try:
                records = read_records(self._home, self._agent.get_record_patterns())
                usage = self._agent.read_usage(self._printed(), records)
            except Exception:
                # An adapter is anybody's code; the case goes on unwatched.
                return
            self._progress.update(tokens=usage.tokens, cost_usd=usage.cost_usd)

    def _printed(self) -> str:
        if self._log_path is None or not self._log_path.exists():
            return ""
        with self._log_path.open("rb") as file:
            return file.read(_LOG_BYTES).decode(errors="replace")
