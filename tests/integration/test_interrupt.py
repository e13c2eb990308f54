"""Ctrl-C once finishes what runs, twice stops now; SIGTERM stops now."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import Project
from integration.sessions import outcomes
from integration.sessions import processes_with
from integration.sessions import wait_until
from support_terminal import CTRL_C
from support_terminal import Terminal

from pytest_codegenie import load_run
from pytest_codegenie.evidence import Run


#: What a session says where it draws no lines.
FINISHES = (
    "interrupted: finishes what runs, starts nothing more; Ctrl-C again stops now"
)


class Held:
    """Sessions whose agents tell that they are started, and wait until they may end.

    The case ``a-quick`` ends by itself.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.go = project.path / "go"
        self.started_at = project.path / "started"
        self.started_at.mkdir()
        for name in ("a-quick", "b-held", "c-held", "d-held", "e-held"):
            problem = {"input/problem.md": f"{name}\n"}
            project.case(name, files=ALWAYS_RIGHT | problem)
        script = (
            f"echo >> README.md; name=$(cat); touch {self.started_at}/$name; "
            f"while [ $name != a-quick ] && [ ! -e {self.go} ]; do sleep 0.05; done"
        )
        self.option = project.shell_agent(script, workspace="host")

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-m", "pytest", "--codegenie", self.option]

    def start(
        self, *arguments: str, before: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a session and wait until an agent of each process waits."""
        process = self.popen(*arguments, before=before)
        count = 2 if "-n2" in arguments else 1
        wait_until(lambda: len(self.held()) == count and "a-quick" in self.recorded())
        return process

    def popen(
        self, *arguments: str, before: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a session, by a program that comes before it."""
        with self.stdout.open("wb") as stdout, self.stderr.open("wb") as stderr:
            return subprocess.Popen(
                [*before, *self.argv, "--junitxml=out.xml", *arguments],
                cwd=self.project.path,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )

    @property
    def stdout(self) -> Path:
        return self.project.path / "stdout"

    @property
    def stderr(self) -> Path:
        return self.project.path / "stderr"

    def started(self) -> set[str]:
        return {path.name for path in self.started_at.iterdir()}

    def held(self) -> set[str]:
        return self.started() - {"a-quick"}

    def recorded(self) -> list[str]:
        return [r.case_id for r in self.run().results] if self.runs() else []

    def runs(self) -> list[Path]:
        return self.project.run_directories

    def run(self) -> Run:
        (directory,) = self.runs()
        return load_run(directory)

    def says(self, text: str) -> None:
        wait_until(lambda: text in self.stderr.read_text())

    def assert_nothing_is_left(self) -> None:
        """No process of the session, no directory, no result of what was cut off."""
        wait_until(lambda: not processes_with(str(self.project.path)))
        assert not list(Path(tempfile.gettempdir()).glob("codegenie-*"))
        run = self.run()
        lines = (run.directory / "results.jsonl").read_bytes().splitlines()
        assert len(lines) == len(run.results)
        assert all(r.outcome == "passed" for r in run.results)
        text = self.stdout.read_text() + self.stderr.read_text()
        assert "Traceback" not in text, text
        assert "node down" not in text, text


@pytest.fixture
def held(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    temporary = project.path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    held = Held(project)
    yield held
    held.go.touch()  # whatever went wrong: nobody waits for ever
    tempfile.tempdir = None


def to_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal as a terminal does it: the whole group in front of it."""
    os.killpg(process.pid, number)


def to_controller(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    process.send_signal(number)


Signaller = Callable[[subprocess.Popen[bytes], signal.Signals], None]


@pytest.mark.parametrize(
    ("arguments", "send"),
    [([], to_controller), (["-n2", "--dist=worksteal"], to_group)],
    ids=["serial", "xdist"],
)
def test_once_finishes_what_runs_and_reports(
    held: Held, arguments: list[str], send: Signaller
) -> None:
    process = held.start(*arguments)
    send(process, signal.SIGINT)
    held.says(FINISHES)
    held.go.touch()
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    started = held.started()
    assert len(started) == 3 if arguments else 2
    run = held.run()
    assert {r.case_id for r in run.results} == started
    assert len(run.record.items) == 5
    assert outcomes(held.project.path / "out.xml") == {
        f"{name}[shell]": "passed" for name in started
    }
    report = json.loads((run.directory / "report-demo-task-shell.json").read_text())
    assert (report["complete"], report["passed_count"]) == (False, len(started))
    shown = held.stdout.read_text()
    place = f".codegenie/runs/{run.record.run_id}"
    line = (
        f"interrupted: {len(started)} of 5 cases have a result; the run is in {place}"
    )
    assert line in shown
    assert "Interrupted: Ctrl-C; what ran was finished" in shown
    assert f"{len(started)} passed in" in shown
    held.assert_nothing_is_left()


@pytest.mark.parametrize(
    ("arguments", "send"),
    [([], to_group), (["-n2"], to_controller)],
    ids=["serial", "xdist"],
)
def test_twice_stops_now_and_keeps_what_was_recorded(
    held: Held, arguments: list[str], send: Signaller
) -> None:
    # Agents may go on from when the session stops: too late, if it stops all at once.
    held.project.path.joinpath("conftest.py").write_text(
        "import pathlib\n"
        "def pytest_configure(config):\n"
        "    global is_worker\n"
        "    is_worker = hasattr(config, 'workerinput')\n"
        "def pytest_keyboard_interrupt():\n"
        "    if not is_worker:\n"
        f"        pathlib.Path({str(held.go)!r}).touch()\n"
    )
    process = held.start(*arguments)
    send(process, signal.SIGINT)
    held.says(FINISHES)
    send(process, signal.SIGINT)
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    assert held.go.exists()
    held.assert_nothing_is_left()
    assert held.recorded() == ["a-quick"]
    shown = held.stdout.read_text()
    assert "Interrupted: stopped by a second Ctrl-C" in shown
    assert "interrupted: 1 of 5 cases have a result; the run is in" in shown
    assert outcomes(held.project.path / "out.xml") == {"a-quick[shell]": "passed"}


def test_sigterm_stops_now(held: Held) -> None:
    process = held.start()
    process.terminate()
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    held.assert_nothing_is_left()
    assert held.recorded() == ["a-quick"]
    assert "Interrupted: stopped by SIGTERM" in held.stdout.read_text()
    assert FINISHES not in held.stderr.read_text()


def test_an_agent_in_its_own_namespaces_is_stopped_too(project: Project) -> None:
    project.case("a-held", files=ALWAYS_RIGHT)
    sleep = f"sleep 987.{os.getpid()}"
    process = project.start(project.shell_agent(f"{sleep} & setsid {sleep}"))
    wait_until(lambda: len(processes_with(sleep.replace(" ", "\0"))) >= 2)
    process.terminate()
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    wait_until(lambda: not processes_with(sleep.replace(" ", "\0")))
    assert project.only_run().results == ()


def test_keys_on_a_terminal(held: Held) -> None:
    terminal = Terminal(held.argv, held.project.path)
    terminal.wait_for(lambda screen: "-held[shell]  agent" in screen)
    terminal.type(CTRL_C)
    terminal.wait_for(lambda screen: FINISHES in screen)
    terminal.type(CTRL_C)
    assert terminal.end() == pytest.ExitCode.INTERRUPTED
    shown = terminal.screen.text()
    assert "stopped by a second Ctrl-C" in shown
    assert FINISHES not in shown
    assert "-held[shell]  agent" not in shown
    assert held.recorded() == ["a-quick"]
    wait_until(lambda: not processes_with(str(held.project.path)))


def test_keys_pressed_too_often_do_not_cost_the_report(held: Held) -> None:
    held.project.path.joinpath("conftest.py").write_text(
        "import os, signal\n"
        "def pytest_sessionfinish():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "def pytest_terminal_summary():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    process = held.start()
    to_group(process, signal.SIGINT)
    held.says(FINISHES)
    held.go.touch()
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    held.assert_nothing_is_left()
    assert "interrupted: 2 of 5 cases have a result" in held.stdout.read_text()


def test_before_the_first_case_pytest_ends_as_ever(held: Held) -> None:
    # Workers collect, and Ctrl-C does not come to them.
    held.project.path.joinpath("conftest.py").write_text(
        "import pathlib, time\n"
        "def pytest_collection_modifyitems():\n"
        f"    pathlib.Path({str(held.started_at)!r}, 'collection').touch()\n"
        "    while True:\n"
        "        time.sleep(0.05)\n"
    )
    process = held.popen("-n2")
    wait_until(lambda: held.started() == {"collection"})
    to_group(process, signal.SIGINT)
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in held.stdout.read_text()
    assert not held.runs()
    wait_until(lambda: not processes_with(str(held.project.path)))
    assert not list(Path(tempfile.gettempdir()).glob("codegenie-*"))


def test_a_signal_that_was_ignored_before_stays_ignored(held: Held) -> None:
    # As a shell starts what is to go on in the background.
    ignoring = ("/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh")
    process = held.start(before=ignoring)
    to_group(process, signal.SIGINT)
    held.go.touch()
    assert process.wait() == 0
    assert len(held.recorded()) == 5


def test_signals_are_given_back(project: Project) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    project.case("first")
    project.path.joinpath("conftest.py").write_text(
        "import signal\n"
        "def pytest_runtest_setup(item):\n"
        f"    assert signal.getsignal({int(signal.SIGINT)}) is not "
        "signal.default_int_handler\n"
    )
    project.run().assert_outcomes(passed=1)
    project.run("--collect-only")
    assert [signal.getsignal(number) for number in numbers] == before
