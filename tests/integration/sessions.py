"""A project with a bench, and pytest sessions in it: what these tests look at."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support import Bench
from support_warm import warm_python

from pytest_codegenie import load_run
from pytest_codegenie.evidence import Run
from pytest_codegenie.workspaces.sandbox import SandboxWorkspace


#: Judges a case in no time: whatever the agent did is right.
ALWAYS_RIGHT = {"expected/tests.toml": 'framework = "command"\ncommand = "true"\n'}
#: Right is what mends the thermometer. (A file that the command names is put back.)
RIGHT_IF_MENDED = {
    "expected/tests.toml": 'framework = "command"\ncommand = "grep -q 32 *.py"\n'
}
#: Nothing can be judged: the framework does not exist.
NEVER_JUDGED = {"expected/tests.toml": 'framework = "oracle-bones"\ncommand = "true"\n'}
#: What ``auto`` chooses on this machine.
AUTO_WORKSPACE = "host" if SandboxWorkspace().probe() else "sandbox"
#: A line that only a traceback through our own modules has.
OUR_FRAMES = re.compile(r"pytest_codegenie/[\w/]+\.py[:\"]|Traceback \(most recent")


def _began(run: Path) -> tuple[str, str]:
    """Return when a run began; ids of the same second are in no order."""
    try:
        record = json.loads((run / "run.json").read_bytes())
    except (OSError, ValueError):
        return "", run.name  # killed before it was written
    return record["started_at"], run.name


class Project:
    """A directory with ``pyproject.toml`` and ``bench/demo-task``."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.bench = Bench(self.path / "bench")
        self.settings("")

    def settings(self, codegenie: str, *, ini: str = "") -> None:
        """Write ``pyproject.toml`` with lines for ``[tool.codegenie]``."""
        self.path.joinpath("pyproject.toml").write_text(
            "[tool.pytest.ini_options]\n"
            'addopts = ["--strict-markers", "--strict-config"]\n'
            f"{ini}\n[tool.codegenie]\n{codegenie}\n",
            encoding="utf-8",
        )

    def case(self, case_id: str = "first", **options: Any) -> Path:
        """Make a case that is judged in no time, if not said otherwise."""
        options.setdefault("files", ALWAYS_RIGHT)
        return self.bench.case(case_id, **options)

    def three_outcomes(self) -> None:
        """Make cases that ``oracle`` passes, fails, and cannot be judged on."""
        self.case("passes", files=RIGHT_IF_MENDED)
        self.case("fails", files=RIGHT_IF_MENDED | {"expected/gold.patch": ""})
        self.case("errs", files=NEVER_JUDGED)

    def run_file(self, **settings: Any) -> str:
        """Write a run file and return the option for it."""
        # JSON is YAML.
        self.path.joinpath("run.yaml").write_text(json.dumps(settings), "utf-8")
        return "--codegenie-run-file=run.yaml"

    def shell_agent(self, script: str, **settings: Any) -> str:
        """Write a run file with an agent that is a shell script; return its option."""
        options = {"command": ["/bin/sh", "-c", script]}
        agent = {"name": "command", "label": "shell", "options": options}
        return self.run_file(agents=[agent], **settings)

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest with ``--codegenie`` in this process."""
        return self.pytester.runpytest_inprocess("--codegenie", *arguments)

    def run_subprocess(self, *arguments: str) -> pytest.RunResult:
        """Run pytest with ``--codegenie`` in a process of its own."""
        return self.pytester.runpytest_subprocess("--codegenie", *arguments)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start pytest with ``--codegenie`` and do not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", "--codegenie", *arguments],
            cwd=self.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def command(
        self, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the command ``codegenie`` to its end."""
        return subprocess.run(
            [*warm_python(), "-m", "pytest_codegenie.cli", *arguments],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            env={**os.environ, **(env or {})},
        )

    @property
    def run_directories(self) -> list[Path]:
        """The runs in the store, oldest first."""
        runs = self.path / ".codegenie" / "runs"
        return sorted(runs.iterdir(), key=_began) if runs.is_dir() else []

    def only_run(self) -> Run:
        """Read the store's only run."""
        (directory,) = self.run_directories
        return load_run(directory)

    def events(self, event_type: str) -> list[dict[str, Any]]:
        """Return the payloads of the only run's log events of a type."""
        (directory,) = self.run_directories
        lines = (directory / "log.jsonl").read_text("utf-8").splitlines()
        events = [json.loads(line) for line in lines]
        return [e["payload"] for e in events if e["event_type"] == event_type]


def node_id(case_id: str, agent: str = "oracle") -> str:
    """Return the node id of a case of ``bench/demo-task``."""
    return f"bench/demo-task/cases/{case_id}/case.toml::{case_id}[{agent}]"


def collected(result: pytest.RunResult) -> list[str]:
    """Return the node ids that ``--collect-only -q`` printed, in order."""
    return [line for line in result.outlines if "case.toml::" in line]


def outcomes(junit: Path) -> dict[str, str]:
    """Return test case name to ``passed``, ``failure``, ``error`` or ``skipped``."""
    found = {}
    for case in ET.parse(junit).getroot().iter("testcase"):
        kinds = [child.tag for child in case if child.tag != "properties"]
        found[case.get("name", "")] = kinds[0] if kinds else "passed"
    return found


def properties(element: ET.Element) -> dict[str, str]:
    """Return the properties of a test case or a suite."""
    return {
        item.get("name", ""): item.get("value", "")
        for item in element.findall("properties/property")
    }


def assert_no_traceback(result: pytest.RunResult) -> None:
    """No line of the output is of a traceback through our modules."""
    text = result.stdout.str() + result.stderr.str()
    assert not OUR_FRAMES.search(text), text
    assert "INTERNALERROR" not in text, text


def wait_until(condition: Any, seconds: float = 30.0) -> None:
    """Wait for a condition; fail the test when it never holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"it never happened: {condition}")
        time.sleep(0.02)


def processes_with(text: str) -> Sequence[int]:
    """Return the processes that have ``text`` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in command:
                found.append(int(entry.name))
    return found
