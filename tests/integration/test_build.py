"""``codegenie build``: what it does with a project, says, and ends with."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support_foundry import HARNESS
from support_foundry import STEPS
from support_foundry import build
from support_foundry import make_project
from support_foundry import step_diff
from support_foundry import tree_of
from support_foundry import whole_tree
from support_terminal import Screen
from support_terminal import open_terminal

from pytest_codegenie.cli import main
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.state_registry import StateRegistry


NOP = HARNESS.replace("oracle", "nop")
ONE = {"prompt.md": "## P-001: Greet\nWrite greet.\n"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path / "demo")


def test_it_builds_and_says_so_in_plain_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    project = make_project(tmp_path / "demo", ONE)
    assert main(["build", "demo"]) == 0
    out = capfd.readouterr().out.splitlines()
    assert out[0].startswith("codegenie build demo: agent oracle, workspace host: ")
    assert out[1:3] == ["1 prompts, 0 complete", "P-001: Greet: try 1 of 4"]
    assert out[3].startswith("P-001: Greet: complete: coverage 100%, pylint 10, ")
    assert out[4] == "all 1 prompts are complete; 1 of 1 prompts complete, 1 tries"
    assert len(out) == 6
    assert sorted(tree_of(project)) == ["src/demo_greet.py", "tests/test_greet.py"]
    # And what the last line names works.
    command = out[5].removeprefix("each step: ").split()
    log = subprocess.check_output(command, cwd=project.parent, text=True)
    assert "    P-001: Greet\n" in log
    assert "Coverage: 100" in log


def test_the_conftest_of_the_project_is_not_run_here(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    trap = f"open({str(project / 'sprung')!r}, 'w').close()\n"
    for place in (project, project / "tests"):
        place.mkdir(exist_ok=True)
        (place / "conftest.py").write_text(trap, "utf-8")
    assert main(["build", "--agent", "nop", "--max-retries", "0"]) == 11
    assert not (project / "sprung").exists()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--max-retries", "1"), 11, "P-001: Greet: 2 tries failed, and 1 retries"),
        (("--max-iterations", "2"), 12, "2 tries were made of all prompts together"),
        (("--agent", "nobody"), 1, "unknown agent 'nobody'"),
        (("--until", "P-7"), 4, "has no prompt 'P-7'"),
        (("--workspace", "moon"), 4, "there is no workspace 'moon'"),
        (("--from-scratch",), 4, "say so with --yes"),
        (("--undo", "P-001", "--yes"), 4, "P-001 is not complete"),
    ],
)
def test_each_way_to_end_has_its_code_and_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    code: Any,
    words: Any,
) -> None:
    monkeypatch.chdir(tmp_path)
    make_project(tmp_path / "demo", {"harness.yaml": NOP})
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["build", "demo", *options]) == code
    said = capfd.readouterr()
    assert words in said.err
    assert "Traceback" not in said.out + said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--max-retries", "-1"),
        ("--max-iterations", "0"),
        ("--max-cost-usd", "nan"),
        ("--max-cost-usd", "0"),
    ],
)
def test_numbers_that_make_no_sense_are_wrong_usage(
    project: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["build", "demo", *arguments])
    assert caught.value.code == 4
    assert arguments[0] in capfd.readouterr().err


def test_a_changed_document_ends_a_build_and_a_dry_run_says_it(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert build(project, until="P-001").completed == 1
    (project / "design.md").write_text("other", "utf-8")
    assert main(["build", "demo"]) == 13
    assert "demo/design.md changed since the build began" in capfd.readouterr().err
    assert main(["build", "demo", "--dry-run"]) == 1
    said = capfd.readouterr()
    assert "design.md changed since the build began" in said.err
    assert "P-001   Greet  complete        3        90     9.5" in said.out


def test_a_dry_run_starts_and_writes_nothing(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(project.rglob("*"))
    assert main(["build", "demo", "--dry-run", "--until", "P-002"]) == 0
    out = capfd.readouterr().out
    assert "P-002" in out
    assert "P-003" not in out
    assert "gates: tests, coverage, pylint" in out
    assert sorted(project.rglob("*")) == before
    assert main(["build", "demo", "--dry-run", "--agent", "aider"]) == 1


def test_status_is_a_table(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build(project, until="P-002")
    for words in (["status", "demo"], ["demo", "status"]):
        assert main(["build", *words]) == 0
        lines = capfd.readouterr().out.splitlines()
        assert lines[0].split() == [
            *("prompt", "title", "state", "tries", "coverage", "pylint", "commit")
        ]
        assert lines[1].split()[:6] == ["P-001", "Greet", "complete", "1", "100", "10"]
        assert lines[3].split() == ["P-003", "Both", "next", "0"]
        assert lines[4] == "2 of 3 prompts complete, 2 tries"


def test_undo_and_from_scratch_take_steps_back(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    build(project)
    assert main(["build", "demo", "--undo", "P-003", "--yes"]) == 0
    assert "undone: P-003" in capfd.readouterr().out
    assert "src/demo_both.py" not in tree_of(project)
    arguments = ["--agent", "nop", "--from-scratch", "--yes", "--max-retries", "0"]
    assert main(["build", "demo", *arguments]) == 11
    assert tree_of(project) == {}


def test_a_cost_cap_ends_the_build(
    project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # An agent that says what it cost.
    (tmp_path / "costly.py").write_text(
        "from pytest_codegenie.agents.nop import NopAgent\n\n\n"
        "class Costly(NopAgent):\n    name = 'costly'\n\n"
        "    def find_patch(self, instance):\n"
        "        found = super().find_patch(instance)\n"
        "        return found.model_copy(update={'cost_usd': 0.75})\n",
        "utf-8",
    )
    sys.path.insert(0, str(tmp_path))
    try:
        result = _build_costly(project)
    finally:
        sys.path.remove(str(tmp_path))
    assert (result.ended, result.exit_code, result.tries) == ("cost", 7, 2)
    assert result.cost_usd == 1.5
    assert "the build has cost 1.5000 USD, and 1 are allowed" in result.message


def _build_costly(project: Path) -> BuildResult:
    from support_foundry import EasyGate

    from pytest_codegenie.harness.foundry.build_settings import BuildSettings
    from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner
    from pytest_codegenie.harness.foundry.rooms import Surroundings
    from pytest_codegenie.models import AgentSpec
    from pytest_codegenie.models import PartTable
    from pytest_codegenie.parts import BUILTIN_PARTS

    parts = BUILTIN_PARTS.model_dump()
    parts["agents"] = {"costly": "costly:Costly"}
    return HarnessRunner(
        project,
        BuildSettings(agent=AgentSpec(name="costly", label="c"), max_cost_usd=1.0),
        surroundings=Surroundings(PartTable(**parts)),
        gate=EasyGate(),
    ).run()


def test_of_two_builds_at_once_one_is_refused_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    waiting = (
        "agent:\n  name: command\n  options:\n"
        f"    command: [sh, -c, 'while [ ! -e {tmp_path}/go ]; do sleep 0.05; done;"
        f" sh {tmp_path}/write']\n"
        "environment: {install: none}\nworkspace: host\n"
        "thresholds: {coverage: 0, pylint: 0}\n"
    )
    project = make_project(tmp_path / "demo", {**ONE, "harness.yaml": waiting})
    diff = tmp_path / "diff"
    diff.write_text(step_diff(STEPS[0]), "utf-8")
    (tmp_path / "write").write_text(f"git apply {diff}", "utf-8")
    command = [sys.executable, "-m", "pytest_codegenie.cli", "build", "demo"]
    first = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        log = project / ".codegenie-build" / "log.jsonl"
        while not log.exists() or "try.started" not in log.read_text("utf-8"):
            assert time.monotonic() < deadline
            assert first.poll() is None
            time.sleep(0.05)
        second = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert second.returncode == 4
        assert "another build of this project goes on" in second.stderr
        (tmp_path / "go").touch()
        assert first.wait(60) == 0
    finally:
        first.kill()
        first.wait()
    assert StateRegistry(project).load()["completed"] == ["P-001"]
    assert StateRegistry(project).load()["iterations"] == 1


def test_a_terminal_shows_where_the_build_is(tmp_path: Path) -> None:
    # P-001 passes no gate and P-002 is never reached.
    gates = f"{NOP}limits: {{max_retries: 0}}\n"
    make_project(tmp_path / "demo", {"harness.yaml": gates})
    ours, theirs = open_terminal(100, 24)
    command = [sys.executable, "-m", "pytest_codegenie.cli", "build", "demo"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    screen = Screen(100, 24)
    try:
        while data := _read(ours):
            screen.feed(data)
    finally:
        os.close(ours)
    assert process.wait(30) == 11
    assert b"P-001: Greet  try 1 of 1" in screen.raw
    shown = screen.text()
    assert "P-001: Greet: try 1 failed: the agent changed nothing" in shown
    assert "0 of 3 prompts complete, 1 tries" in shown


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 4096)
    except OSError:
        return b""


def test_interrupted_it_goes_on_where_it_was(tmp_path: Path) -> None:
    slow = (
        "agent:\n  name: command\n  options: {command: [sleep, '60']}\n"
        "environment: {install: none}\nworkspace: host\n"
    )
    project = make_project(tmp_path / "demo", {"harness.yaml": slow})
    command = [sys.executable, "-m", "pytest_codegenie.cli", "build", "demo"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    log = project / ".codegenie-build" / "log.jsonl"
    while not log.exists() or '"phase": "agent"' not in log.read_text("utf-8"):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said == "codegenie: interrupted\n"
    assert (
        json.loads((project / "build_state.json").read_text("utf-8"))["iterations"] == 0
    )
    text = (project / "harness.yaml").read_text("utf-8")
    assert build(Path(project)).ended == "complete"
    assert tree_of(project) == whole_tree()
    assert (project / "harness.yaml").read_text("utf-8") == text
