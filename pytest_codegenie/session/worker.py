"""A worker of xdist: it collects and runs, as the controller tells it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie import logs
from pytest_codegenie.evidence import RunLock
from pytest_codegenie.evidence import read_run_record
from pytest_codegenie.session.collection import Collection
from pytest_codegenie.session.corpus import SessionCorpus
from pytest_codegenie.session.interrupting import STOP_FILE
from pytest_codegenie.session.interrupting import StopsBeforeItems
from pytest_codegenie.session.interrupting import leave_terminal
from pytest_codegenie.session.resuming import Resumption
from pytest_codegenie.session.running import Runner


#: Of ``workerinput``: what the controller tells a worker.
WORKER_KEY = "codegenie"


class Worker(Collection):
    """A worker of xdist."""

    def __init__(
        self, config: pytest.Config, runner: Runner, given: dict[str, Any]
    ) -> None:
        super().__init__(config, runner)
        runner.run_id = given["run_id"]
        runner.scratch = Path(given["scratch"])
        runner.progress_directory = (
            Path(given["progress"]) if given["progress"] else None
        )
        leave_terminal()
        stops = StopsBeforeItems(runner.scratch / STOP_FILE)
        config.pluginmanager.register(stops, "codegenie-stops")
        runner.datasets.hear(Path(given["datasets"]))
        runner.corpus = SessionCorpus(
            Path(given["manifest"]),
            announce=given["announces"],
            opens=runner.datasets.open,
        )
        if given["run_directory"]:
            runner.run_directory = Path(given["run_directory"])
            self._lock = RunLock.of_worker(runner.run_directory)
            if given["resumes"] is not None:
                record = read_run_record(runner.run_directory)
                runner.go_on(Resumption(runner.run_directory, record, given["resumes"]))
            logs.log_to(
                runner.run_directory / "log.jsonl",
                level=runner.settings.log_level,
                redact=runner.redactor.text,
            )
        else:
            logs.log_to(Path(os.devnull))
        if given["each"]:
            worker: str = config.workerinput["workerid"]  # type: ignore[attr-defined]
            runner.artifacts_suffix = f"-{worker}"

    def pytest_unconfigure(self) -> None:
        """Stop logging."""
        logs.log_to(None)
