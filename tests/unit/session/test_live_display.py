"""Which sessions get live lines, and what is counted of them."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from typing import TextIO

import pytest
from support_terminal import Screen
from support_terminal import open_terminal

from pytest_codegenie import logs
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.session.live import LiveDisplay
from pytest_codegenie.session.live import draws_for
from pytest_codegenie.session.live.board import Board
from pytest_codegenie.session.live.display import item_name


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    """The side of a terminal that programs write to."""
    ours, theirs = open_terminal()
    with os.fdopen(theirs, "w", encoding="utf-8") as file:
        yield file
    os.close(ours)


def draws(pytester: pytest.Pytester, terminal: TextIO | None, *arguments: str) -> bool:
    config = pytester.parseconfigure(*arguments)
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if terminal is not None and reporter is not None:
        reporter._tw._file = terminal
    return draws_for(config)


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's terminal, whoever runs this."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.parametrize("arguments", [[], ["-v"], ["-vv", "-x"], ["--capture=sys"]])
def test_a_terminal_gets_lines(
    pytester: pytest.Pytester, terminal: TextIO, arguments: list[str]
) -> None:
    assert draws(pytester, terminal, *arguments)


@pytest.mark.parametrize(
    "argument",
    [
        "-q",
        "-qq",
        "-s",
        "--capture=tee-sys",
        "--pdb",
        "--trace",
        "--collect-only",
        "--setup-plan",
        "--setup-only",
    ],
)
def test_options_that_want_the_terminal_for_themselves_get_none(
    pytester: pytest.Pytester, terminal: TextIO, argument: str
) -> None:
    assert not draws(pytester, terminal, argument)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("CI", "true", False),
        ("CI", "1", False),
        ("CI", "", True),
        ("CI", "false", True),
        ("TERM", "dumb", False),
        ("TERM", None, False),
        ("NO_COLOR", "1", True),
    ],
)
def test_the_environment_tells_whether_somebody_looks(
    pytester: pytest.Pytester,
    terminal: TextIO,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str | None,
    expected: bool,
) -> None:
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
    assert draws(pytester, terminal) is expected


def test_a_file_gets_none(pytester: pytest.Pytester) -> None:
    assert not draws(pytester, None)


def test_a_reporter_of_another_plugin_gets_none(
    pytester: pytest.Pytester, terminal: TextIO
) -> None:
    pytester.makeconftest(
        "import pytest\n"
        "from _pytest.terminal import TerminalReporter\n"
        "class Sweet(TerminalReporter):\n"
        "    pass\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_configure(config):\n"
        "    plugins = config.pluginmanager\n"
        "    plugins.unregister(name='terminalreporter')\n"
        "    plugins.register(Sweet(config), 'terminalreporter')\n"
    )
    assert not draws(pytester, terminal)


def test_nothing_draws_without_a_reporter(
    pytester: pytest.Pytester, terminal: TextIO
) -> None:
    assert not draws(pytester, terminal, "-p", "no:terminal")


def test_the_item_of_a_node_id() -> None:
    assert item_name("bench/t/cases/a/case.toml::a[x-t2]") == "a[x-t2]"
    assert item_name("bench/t/cases/a/case.toml::a[x]@group") == "a[x]"
    assert item_name("anything else") == ""


class Session:
    """A display whose hooks are called as a session would, and its screen."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.ours, theirs = open_terminal(90, 10)
        self.file = os.fdopen(theirs, "w", encoding="utf-8")
        config = pytester.parseconfigure("--color=no")
        writer = config.get_terminal_writer()
        writer._file = self.file
        self.directory = pytester.mkdir("progress")
        self.display = LiveDisplay(config, self.directory, lambda: "a notice")
        self.screen = Screen(90, 10)

    def start(self, name: str) -> None:
        self.display.pytest_runtest_logstart(f"case.toml::{name}")

    def report(self, name: str, when: Any, outcome: Any, *, xfail: str = "") -> None:
        place = ("case.toml", None, name)
        nodeid = f"case.toml::{name}"
        report = pytest.TestReport(nodeid, place, {}, outcome, None, when)
        if xfail:
            report.wasxfail = xfail
        self.display.pytest_runtest_logreport(report)

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 30
        while text not in self.screen.text():
            assert time.monotonic() < deadline, self.screen.text()
            if select.select([self.ours], [], [], 0.1)[0]:
                self.screen.feed(os.read(self.ours, 1 << 16))

    def close(self) -> None:
        self.display.stop()
        self.file.close()
        os.close(self.ours)


@pytest.fixture
def session(pytester: pytest.Pytester) -> Iterator[Session]:
    session = Session(pytester)
    yield session
    session.close()


def test_what_a_case_tells_is_on_its_line(session: Session) -> None:
    told = Progress(session.directory / "a[x]")
    told.enter("agent")
    told.update(tokens=1500, cost_usd=0.25)
    told.enter("judge")
    session.start("a[x]")
    session.wait_for("1.5k tokens  0.2500 USD")
    lines = session.screen.lines()
    assert any(line.startswith("a[x]      judge       0:") for line in lines)
    assert "a notice" in lines


def test_each_outcome_is_counted_once(session: Session) -> None:
    session.display.pytest_xdist_node_collection_finished(["a", "b", "c", "d", "e"])
    for name in ("a[x]", "b[x]", "c[x]", "d[x]", "still[x]"):
        session.start(name)
    for name, outcome in (("a[x]", "passed"), ("b[x]", "failed")):
        session.report(name, "setup", "passed")
        session.report(name, "call", outcome)
        session.report(name, "teardown", "passed")
        session.display.pytest_runtest_logfinish(f"case.toml::{name}")
    session.report("c[x]", "call", "skipped", xfail="ambiguous")
    session.display.pytest_runtest_logfinish("case.toml::c[x]")
    # As xdist tells of a case whose worker died.
    session.display.pytest_handlecrashitem("case.toml::d[x]")
    session.report("d[x]", "setup", "failed")
    session.wait_for("4 of 5: 1 passed, 1 failed, 1 error, 1 ambiguous; about")
    session.wait_for("still[x]")
    assert "d[x]" not in session.screen.text()


def test_a_fault_ends_the_lines_and_is_logged(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    logs.log_to(log)
    session.start("a[x]")
    session.wait_for("a[x]")
    monkeypatch.setattr(Board, "lines", lambda *_: 1 / 0)
    deadline = time.monotonic() + 30
    while session.display.drawing:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    session.display._thread.join()
    logs.log_to(None)
    session.start("b[x]")
    assert not session.display.drawing
    (line,) = log.read_text().splitlines()
    event = json.loads(line)
    assert event["event_type"] == "live.gave_up"
    assert "ZeroDivisionError" in event["payload"]["trace"]
