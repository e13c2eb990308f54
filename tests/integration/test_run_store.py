"""What a run leaves behind: the log, records, and what there is after a kill."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

import pytest
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import processes_with
from integration.sessions import wait_until

from pytest_codegenie import load_run
from pytest_codegenie.corpus import hash_task_class
from pytest_codegenie.hashing import hash_tree


def test_the_log_has_a_line_of_json_for_each_event(
    project: Project, plugin_args: list[str]
) -> None:
    project.three_outcomes()
    project.run(*plugin_args)
    (directory,) = project.run_directories
    lines = (directory / "log.jsonl").read_text().splitlines()
    for line in lines:
        event = json.loads(line)
        assert {"timestamp", "event_type", "payload"} <= event.keys()
        assert dt.datetime.fromisoformat(event["timestamp"]).tzinfo is not None
    assert len(project.events("case.started")) == 3
    assert {e["outcome"] for e in project.events("case.ended")} == {
        "passed",
        "failed",
        "error",
    }


def test_a_stale_case_is_logged_once_and_shown_nowhere(
    project: Project, plugin_args: list[str]
) -> None:
    path = project.case("old") / "case.toml"
    text = path.read_text()
    path.write_text(re.sub(r"(last_validated_at = )\S+", r"\g<1>2020-01-01", text))
    assert path.read_text() != text
    result = project.run("-s", *plugin_args)
    result.assert_outcomes(passed=1)
    assert "case_stale" not in result.stdout.str() + result.stderr.str()
    (stale,) = project.events("loader.case_stale")
    assert stale["case_id"] == "old"
    assert stale["days"] > 2000


@pytest.mark.parametrize("option", ["--collect-only", "--codegenie-validate"])
def test_a_session_without_a_record_logs_nothing_to_the_terminal(
    project: Project, option: str
) -> None:
    path = project.case("old", disposition="negative") / "case.toml"
    path.write_text(
        re.sub(r"(last_validated_at = )\S+", r"\g<1>2020-01-01", path.read_text())
    )
    result = project.run("-s", option)
    assert result.ret == 0
    assert "case_stale" not in result.stdout.str() + result.stderr.str()
    assert not project.run_directories


def test_artifacts_of_a_case_are_where_the_record_says(project: Project) -> None:
    project.case("first")
    script = "echo words; echo >> README.md; echo new > 'a file'"
    project.run(project.shell_agent(script)).assert_outcomes(passed=1)
    (directory,) = project.run_directories
    (result,) = load_run(directory).results
    assert result.output is not None
    artifacts = result.output.artifacts
    assert (directory / artifacts["agent"]).read_text() == "words\n"
    assert "a file" in (directory / artifacts["patch"]).read_text()
    case_dir = directory / "cases/first/shell-t1"
    assert json.loads((case_dir / "result.json").read_text())["outcome"] == "passed"
    report = json.loads((directory / "report-demo-task-shell.json").read_text())
    assert report["complete"] is True
    assert report["passed_count"] == 1


def test_what_a_run_is_made_of_is_recorded_before_it_runs(
    project: Project, plugin_args: list[str]
) -> None:
    """By the agent itself: it finds the record as it is while cases run."""
    case = project.case("first")
    place = f"{project.path}/.codegenie/runs/*/run.json"
    agent = project.shell_agent(f"echo >> README.md; cat {place}")
    arguments = [*plugin_args, "--codegenie-workspace", "host"]
    project.run(agent, *arguments).assert_outcomes(passed=1)
    (directory,) = project.run_directories
    seen = json.loads((directory / "cases/first/shell-t1/agent.log").read_text())
    assert seen["case_digests"] == {"demo-task/first": hash_tree(case).digest}
    assert seen["rubric_digests"] == {
        "demo-task": hash_task_class(project.bench.directory)
    }
    assert load_run(directory).record.rubric_digests == seen["rubric_digests"]


class HeldRun:
    """A run whose first case is done and whose second has an agent that hangs."""

    def __init__(self, project: Project, *arguments: str) -> None:
        self.project = project
        # Unlike that of any other run on this machine.
        self.sleep = f"987.{os.getpid()}{id(self) % 100000}"
        project.case("a-quick")
        project.case("b-hangs")
        script = (
            "echo >> README.md; "
            "if grep -q hang {problem}; then exec sleep " + self.sleep + "; fi"
        )
        problem = project.bench.cases_dir / "b-hangs/input/problem.md"
        problem.write_text("hang\n")
        project.bench.sign()
        self.process = project.start(project.shell_agent(script), *arguments)
        wait_until(lambda: self.agents() and self.recorded() == 1)

    def agents(self) -> Sequence[int]:
        return processes_with("sleep\0" + self.sleep)

    def recorded(self) -> int:
        directories = self.project.run_directories
        return len(load_run(directories[-1]).results) if directories else 0

    def scratches(self) -> list[Path]:
        run_id = self.project.run_directories[-1].name
        return list(Path(tempfile.gettempdir()).glob(f"codegenie-run-{run_id}-*"))


@pytest.fixture
def own_temporary_directory(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    directory = project.path / "tmp"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    tempfile.tempdir = None


@pytest.mark.usefixtures("own_temporary_directory")
def test_a_killed_session_leaves_a_readable_run_and_no_agent(
    project: Project, plugin_args: list[str]
) -> None:
    held = HeldRun(project, *plugin_args)
    held.process.kill()
    held.process.wait()
    wait_until(lambda: not held.agents())
    (directory,) = project.run_directories
    run = load_run(directory)
    assert [(r.case_id, r.outcome) for r in run.results] == [("a-quick", "passed")]
    assert len(run.record.items) == 2
    (left,) = held.scratches()
    project.run("--collect-only")
    assert not left.exists()


@pytest.mark.usefixtures("own_temporary_directory")
def test_a_killed_worker_is_an_error_of_its_item_alone(project: Project) -> None:
    project.case("c-quick")
    held = HeldRun(project, "-n2", "--junitxml=out.xml")
    (agent,) = held.agents()
    os.kill(worker_above(agent), signal.SIGKILL)
    assert held.process.wait(60) == pytest.ExitCode.TESTS_FAILED
    assert not held.agents()
    (directory,) = project.run_directories
    outcomes = {r.case_id: r.outcome for r in load_run(directory).results}
    assert outcomes == {"a-quick": "passed", "b-hangs": "error", "c-quick": "passed"}
    text = project.path.joinpath("out.xml").read_text()
    assert 'errors="1" failures="0"' in text
    assert "crashed while running" in text
    assert not held.scratches()


def worker_above(pid: int) -> int:
    """Return the process of xdist that a process is below."""
    while True:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
        pid = int(status.rpartition(")")[2].split()[1])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"execnet" in command or b"import sys;exec(eval(sys.stdin" in command:
            return pid


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_gets_full_stops_the_session_with_a_clear_message(
    project: Project, small_disk: Path, plugin_args: list[str]
) -> None:
    project.case("a-case")
    project.case("b-case")
    option = project.shell_agent("echo >> README.md; head -c 300000 /dev/zero")
    result = project.run(option, f"--codegenie-out={small_disk}", *plugin_args)
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*No space left on device*"])
    assert_no_traceback(result)
    (directory,) = (small_disk / "runs").iterdir()
    assert all(r.outcome == "error" for r in load_run(directory).results)


def test_a_disk_that_gets_full_while_cases_are_collected_starts_no_agent(
    project: Project, small_disk: Path, plugin_args: list[str]
) -> None:
    project.case()
    ballast = small_disk / "ballast"
    project.path.joinpath("conftest.py").write_text(
        "from pathlib import Path\n"
        "def pytest_ignore_collect():\n"
        f"    ballast = Path({str(ballast)!r})\n"
        "    try:\n"
        "        ballast.write_bytes(bytes(256 << 10))\n"
        "    except OSError:\n"
        "        pass\n"
    )
    marker = project.path / "started"
    option = project.shell_agent(f"touch {marker}")
    result = project.run(option, f"--codegenie-out={small_disk}", *plugin_args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *run.json: *: No space left on device*"])
    assert_no_traceback(result)
    assert not marker.exists()


def test_a_disk_that_is_full_is_said_before_anything_runs(
    project: Project, small_disk: Path
) -> None:
    project.case()
    small_disk.joinpath("ballast").write_bytes(b"x" * (256 << 10))
    result = project.run(f"--codegenie-out={small_disk}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *: cannot be *: No space left on device*"])
    assert_no_traceback(result)


def test_a_result_is_on_the_disk_before_anybody_hears_of_the_outcome(
    project: Project, plugin_args: list[str]
) -> None:
    project.three_outcomes()
    project.path.joinpath("conftest.py").write_text(
        "from pathlib import Path\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    if call.when == 'setup':\n"
        "        (results,) = Path('.codegenie/runs').glob('*/results.jsonl')\n"
        "        text = results.read_text()\n"
        '        assert f\'"case_id":"{item.path.parent.name}"\' in text\n'
    )
    project.run(*plugin_args).assert_outcomes(passed=1, failed=1, errors=1)
