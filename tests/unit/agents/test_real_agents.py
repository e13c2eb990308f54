"""Real agents on a shipped case, end to end, with a model that follows a script."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from model_server import ModelServer
from model_server import Turn
from real_agents import ASKED_FOR
from real_agents import CANARY
from real_agents import INSTALLED
from real_agents import Edit
from real_agents import RealAgent

from pytest_codegenie.corpus import load_cases
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.harness import make_job
from pytest_codegenie.harness import run_case
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import CaseResult
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.workspaces.sandbox import SandboxWorkspace


ROOT = Path(__file__).parents[3]
TASK_CLASS, CASE = "bug-repair", "guesthouse-changeover-day"
EDIT = Edit(
    "lodgebook/stays.py",
    "self.arrival <= other.departure and other.arrival <= self.departure",
    "self.arrival < other.departure and other.arrival < self.departure",
)


class Rig:
    """Runs the case with one agent, against a model's server with a script."""

    def __init__(self, agent: RealAgent, directory: Path) -> None:
        self.agent = agent
        #: Of the run.
        self.directory = directory
        self.server: ModelServer
        self.result: CaseResult

    def run(
        self,
        turns: Sequence[Turn],
        *,
        workspace: str = "sandbox",
        timeout_seconds: float = 120,
        **options: Any,
    ) -> CaseResult:
        """Run it, and remember what came of it."""
        task_class = read_task_class(ROOT / "bench" / TASK_CLASS)
        case = next(one for one in load_cases(task_class) if one.case_id == CASE)
        with ModelServer(turns, counting=self.agent.counting) as self.server:
            given = {
                "program": str(self.agent.path()),
                **self.agent.options(self.server),
                **options,
            }
            job = make_job(
                case,
                task_class,
                AgentSpec(name=self.agent.name, label=self.agent.name, options=given),
                parts=BUILTIN_PARTS,
                workspace=workspace,
                timeout_seconds=timeout_seconds,
                run_directory=self.directory,
            )
            self.result = run_case(job)
        return self.result

    @property
    def output(self) -> AgentOutput:
        """What the agent left."""
        assert self.result.output is not None
        return self.result.output.agent

    @property
    def ending(self) -> tuple[str, str]:
        """Outcome, and the first failure mode."""
        modes = self.result.score.failure_modes
        return self.result.outcome, modes[0].code if modes else ""


@functools.cache
def _sandbox_fault() -> str:
    return SandboxWorkspace().probe()


@pytest.fixture(params=[*INSTALLED, *ASKED_FOR], ids=lambda agent: agent.name)
def rig(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Rig:
    agent: RealAgent = request.param
    agent.path()
    if _sandbox_fault():
        pytest.skip(f"workspace 'sandbox': {_sandbox_fault()}")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv(agent.key_variable, CANARY)
    monkeypatch.chdir(tmp_path)
    return Rig(agent, tmp_path / "run")


@pytest.mark.parametrize("workspace", ["host", "sandbox"])
def test_it_fixes_a_case(rig: Rig, workspace: str, tmp_path: Path) -> None:
    """What it did and used is known, and its key is nowhere."""
    result = rig.run(rig.agent.fix(EDIT), workspace=workspace)
    assert rig.ending == ("passed", ""), result.message
    assert EDIT.new in rig.output.patch
    questions = len(rig.server.questions())
    assert rig.output.metadata["turns"] == questions
    assert rig.output.metadata["output_tokens"] == 50 * questions
    assert rig.output.metadata["input_tokens"] == 1000 * questions
    assert (rig.output.cost_usd is not None) == rig.agent.reports_cost
    assert rig.agent.version in rig.output.metadata["version"]
    assert "error" not in rig.output.metadata
    assert "stopped_by" not in rig.output.metadata
    assert list((tmp_path / "home").iterdir()) == []
    trajectory = _trajectory(rig)
    assert trajectory["agent"]["name"] == rig.agent.name
    assert EDIT.path in json.dumps(trajectory["steps"])
    _nothing_tells_the_key(rig)


def _trajectory(rig: Rig) -> dict[str, Any]:
    """Return the trajectory, held against the format's schema."""
    schema = json.loads(
        (ROOT / "tests/data/atif-v1.8.schema.json").read_text(encoding="utf-8")
    )
    file = rig.directory / "trajectory.json"
    trajectory: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.validate(trajectory, schema)
    return trajectory


def _nothing_tells_the_key(rig: Rig) -> None:
    assert CANARY not in rig.result.to_json()
    files = [path for path in rig.directory.rglob("*") if path.is_file()]
    assert files
    tell = [path for path in files if CANARY.encode() in path.read_bytes()]
    assert tell == []


def test_a_good_end_without_a_change_is_a_failure(rig: Rig) -> None:
    """And where it is isolated it asks the same again, down to the bytes."""
    asked = []
    for _ in range(1 + rig.agent.repeats_itself):
        rig.run([Turn("I see nothing wrong.")])
        assert rig.ending == ("failed", "agent.no_patch"), rig.result.message
        assert "error" not in rig.output.metadata
        asked.append([question.body for question in rig.server.questions()])
    assert asked[0] == asked[-1] != []


def test_a_wrong_fix_fails_by_the_hidden_tests(rig: Rig) -> None:
    rig.run(rig.agent.fix(Edit(EDIT.path, EDIT.old, "False")))
    assert rig.ending[0] == "failed", rig.result.message
    assert rig.result.output is not None
    assert rig.result.output.evaluation is not None
    assert not rig.result.output.evaluation.resolved


def test_one_that_takes_too_long_is_ended_and_what_it_used_is_known(rig: Rig) -> None:
    first, *_ = rig.agent.fix(EDIT)
    rig.run(
        [first, Turn("Late.", pause_seconds=300)],
        timeout_seconds=rig.agent.patience_seconds,
    )
    assert rig.ending == ("failed", "agent.timeout"), rig.result.message
    if rig.agent.tells_early and len(rig.server.questions()) > 1:
        assert rig.output.metadata["output_tokens"] == 50
        assert _trajectory(rig)["steps"]


@pytest.mark.parametrize("status", [401, 500])
def test_a_server_that_refuses_is_an_error(rig: Rig, status: int) -> None:
    rig.run([Turn(status=status)])
    assert rig.ending == ("error", "agent.error"), rig.result.message
    assert rig.server.questions()
    assert "ended after" not in rig.result.message
    _nothing_tells_the_key(rig)


def test_a_server_that_is_busy_is_asked_again(rig: Rig) -> None:
    first, *rest = rig.agent.fix(EDIT)
    busy = Turn(first.text, first.tools, status=429, retry_after=1, times=1)
    rig.run([busy, *rest])
    assert rig.ending == ("passed", ""), rig.result.message


def test_an_answer_that_is_cut_off_for_good_is_an_error(rig: Rig) -> None:
    # Not the same again and again: some take that for a loop, and end well.
    text = " ".join(str(number) for number in range(150))
    rig.run([Turn(text, cut_after=4)])
    assert rig.ending == ("error", "agent.error"), rig.result.message


def test_limits_of_its_own_end_it_and_what_it_left_is_judged(rig: Rig) -> None:
    if not rig.agent.limits:
        pytest.skip(f"{rig.agent.name} has no limits of its own")
    for option, (value, told) in rig.agent.limits.items():
        first, *_ = rig.agent.fix(EDIT)
        rig.run([first], **{option: value})
        assert rig.ending == ("failed", "agent.no_patch"), rig.result.message
        assert rig.output.metadata["stopped_by"] == told
