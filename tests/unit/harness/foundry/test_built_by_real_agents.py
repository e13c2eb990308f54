"""A real agent builds, with a model that follows a script: told why, it does better."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from model_server import ModelServer
from model_server import Turn
from real_agents import CANARY
from real_agents.pi import PI
from support_foundry import make_project
from support_foundry import step_files
from support_foundry import tree_of

from pytest_codegenie.cli import main
from pytest_codegenie.harness.foundry.state_registry import StateRegistry
from pytest_codegenie.workspaces.sandbox import SandboxWorkspace


PROMPT = "# Demo\n\n## P-001: Greet\nWrite greet, and test it.\n"
RIGHT = step_files("greet")
SOURCE, TEST = RIGHT
#: Of its two lines one is not run.
UNTESTED = {
    SOURCE: RIGHT[SOURCE],
    TEST: "import demo_greet\n\n\ndef test_it():\n    assert demo_greet\n",
}
REASON = "coverage is 50%, and 90% is asked for"
AGAIN = "# Your last try"
#: Of one answer: 1000 tokens in at 3 USD and 50 out at 15 USD for a million.
ANSWER_USD = 0.00375


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where a project goes; skip where pi or the sandbox is missing."""
    PI.path()
    if fault := SandboxWorkspace().probe():
        pytest.skip(f"workspace 'sandbox': {fault}")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(PI.key_variable, CANARY)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "demo"


def model() -> ModelServer:
    """Return a model that does better once it is told what was wrong."""
    done = Turn("Done.")
    wrong = Turn("I write it.", _writing(UNTESTED))
    right = Turn("I test all of it.", _writing(RIGHT))
    return ModelServer([wrong, done], rules={right.text: done, AGAIN: right})


def _writing(files: Mapping[str, str]) -> list[tuple[str, Mapping[str, Any]]]:
    return [("write", {"path": path, "content": text}) for path, text in files.items()]


def harness_for(server: ModelServer) -> str:
    options = {"program": str(PI.path()), **PI.options(server)}
    harness = {
        "agent": {"name": PI.name, "options": options},
        "environment": {"install": "none"},
        "limits": {"max_retries": 1},
        "workspace": "sandbox",
    }
    return yaml.safe_dump(harness)


def executions(project: Path) -> list[dict[str, Any]]:
    log = (project / ".codegenie-build" / "log.jsonl").read_text("utf-8")
    events = [json.loads(line) for line in log.splitlines()]
    told = [one for one in events if one["event_type"] == "agent.executed"]
    return [one["payload"] for one in told]


def test_told_what_its_first_try_lacks_it_does_better(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with model() as server:
        files = {"prompt.md": PROMPT, "harness.yaml": harness_for(server)}
        code = main(["build", str(make_project(project, files))])
    said = capfd.readouterr()
    assert code == 0, said.out + said.err
    assert f"P-001: Greet: try 1 failed: {REASON}" in said.out
    assert "1 of 1 prompts complete, 2 tries, 0.0150 USD" in said.out
    assert tree_of(project) == RIGHT
    # Two questions of each try; in the second it stands why, and what was handed in.
    asked = [json.dumps(question.body) for question in server.questions()]
    assert len(asked) == 4
    assert all("Write greet, and test it." in one for one in asked)
    assert [AGAIN in one for one in asked] == [False, False, True, True]
    assert [REASON in one for one in asked] == [False, False, True, True]
    assert f"{SOURCE}: 6" in asked[2]
    assert f"+++ b/{TEST}" in asked[2]
    # What it took is known, by try and of all.
    runs = executions(project)
    assert [(one["agent"], one["step"], one["exit_code"]) for one in runs] == [
        ("pi", "P-001-1", 0),
        ("pi", "P-001-2", 0),
    ]
    assert [one["cost_usd"] for one in runs] == pytest.approx([2 * ANSWER_USD] * 2)
    assert [one["tokens"] for one in runs] == [2100, 2100]
    state = StateRegistry(project).load()
    assert (state["completed"], state["retries"]) == (["P-001"], {"P-001": 1})
    assert state["cost_usd"] == pytest.approx(4 * ANSWER_USD)
    # Its key is nowhere, and nothing of it is in the user's home.
    written = [path for path in project.rglob("*") if path.is_file()]
    assert [one for one in written if CANARY.encode() in one.read_bytes()] == []
    assert list((project.parent / "home").iterdir()) == []
