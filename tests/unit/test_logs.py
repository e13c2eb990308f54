"""Events as JSON lines."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from pytest_codegenie.logs import emit
from pytest_codegenie.logs import log_to


@pytest.fixture(autouse=True)
def no_run_log() -> Iterator[None]:
    yield
    log_to(None)


def test_events_are_json_lines_in_the_runs_log_and_nowhere_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "run.log"
    log_to(log)
    emit("case.started", item="bench/a", path=tmp_path, text="é\n\udcff")
    emit("case.stale", level="warning", days=91)
    first, second = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    assert list(first) == ["timestamp", "level", "event_type", "payload"]
    assert first["event_type"] == "case.started"
    assert first["level"] == "info"
    assert first["payload"] == {
        "item": "bench/a",
        "path": str(tmp_path),
        "text": "é\n\udcff",
    }
    assert (second["level"], second["payload"]) == ("warning", {"days": 91})
    age = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(first["timestamp"])
    assert dt.timedelta(0) <= age < dt.timedelta(minutes=5)
    assert capfd.readouterr() == ("", "")


def test_outside_of_a_run_events_go_to_structlog() -> None:
    with capture_logs() as events:
        emit("loader.case_stale", level="warning", case_id="a", days=91)
    assert events == [
        {
            "event": "loader.case_stale",
            "log_level": "warning",
            "case_id": "a",
            "days": 91,
        }
    ]


@pytest.mark.parametrize("target", ["gone/run.log", "."])
def test_a_log_that_cannot_be_written_stops_nobody(tmp_path: Path, target: str) -> None:
    log_to(tmp_path / target)
    emit("case.started", item="a")
    assert list(tmp_path.iterdir()) == []


def test_lines_of_several_processes_never_mix(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from pytest_codegenie.logs import emit, log_to\n"
        "log_to(Path(sys.argv[1]))\n"
        "for number in range(100):\n"
        "    emit('tick', who=sys.argv[2], number=number, text='x' * 2000)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, os.fspath(log), name])
        for name in ("one", "two", "three")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    payloads = [
        json.loads(line)["payload"]
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    for name in ("one", "two", "three"):
        numbers = [entry["number"] for entry in payloads if entry["who"] == name]
        assert numbers == list(range(100))
