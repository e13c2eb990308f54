"""What all adapters of installed programs have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import support_docker
from support import FIX
from support import Bench

from pytest_codegenie.agents import InstalledAgent
from pytest_codegenie.agents import Usage
from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.base import ProgramAgent
from pytest_codegenie.agents.base import ProgramOptions
from pytest_codegenie.agents.records import json_lines
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.trajectories import TrajectoryBuilder


class ShellOptions(ProgramOptions):
    script: str = "true"
    max_turns: int | None = None


class ShellAgent(ProgramAgent[ShellOptions]):
    """A shell that keeps records: the least that an adapter can be."""

    name = "shell"
    program = "sh"
    install = "apt-get install dash"
    options_type = ShellOptions

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        return [*self.start(instance), "-c", self.options.script]

    def key_variables(self) -> tuple[str, ...]:
        return ("SHELL_API_KEY",)

    def provider(self) -> str:
        return "https://api.example.org"

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        return {**super().get_home_files(home), ".shell/settings": f"home {home}\n"}

    def get_record_patterns(self) -> tuple[str, ...]:
        return (".shell/*.jsonl",)

    def read_report(
        self, stdout: str, stderr: str, exit_code: int, records: Mapping[str, bytes]
    ) -> AgentReport:
        told: dict[str, Any] = {}
        steps = TrajectoryBuilder()
        for data in records.values():
            for line in json_lines(data):
                told |= line
                steps.act(str(line))
        return AgentReport(
            usage=Usage(input_tokens=told.get("input"), cost_usd=told.get("cost")),
            error=str(told.get("error", "")),
            stopped_by=told.get("stopped_by", ""),
            steps=steps,
        )


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHELL_API_KEY", "sk-0123456789")
    monkeypatch.setenv("SHELL_SETTING", "of the user's")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))


def configured(**options: Any) -> ShellAgent:
    agent = ShellAgent()
    agent.configure(options)
    return agent


def run(bench: Bench, tmp_path: Path, script: str, **settings: Any) -> CaseResult:
    bench.case()
    parts = BUILTIN_PARTS.model_copy(
        update={"agents": {"shell": f"{__name__}:ShellAgent"}}
    )
    options = settings.pop("options", {})
    return bench.run(
        agent="shell",
        options={"script": script, **options},
        parts=parts,
        run_directory=tmp_path / "run",
        **settings,
    )


def record(**told: Any) -> str:
    return f"echo '{json.dumps(told)}' >> ~/.shell/a.jsonl"


def test_it_is_an_installed_agent() -> None:
    assert isinstance(configured(), InstalledAgent)


@pytest.mark.parametrize("workspace", ["host", "sandbox", "docker"])
def test_it_works_in_a_home_of_its_own_and_its_records_are_kept(
    bench: Bench, tmp_path: Path, workspace: str
) -> None:
    if workspace == "docker" and (fault := support_docker.missing()):
        pytest.skip(fault)
    script = f"{FIX}; env; cat ~/.shell/settings; {record(input=7, cost=0.5)}"
    result = run(bench, tmp_path, script, workspace=workspace)
    assert result.outcome == "passed", result.message
    assert result.output is not None
    output = result.output.agent
    lines = output.stdout.splitlines()
    assert "SHELL_API_KEY=[redacted]" in lines
    assert not [line for line in lines if line.startswith("SHELL_SETTING")]
    (home,) = [line.removeprefix("HOME=") for line in lines if line[:5] == "HOME="]
    assert f"home {home}" in lines
    assert list((tmp_path / "home").iterdir()) == []
    assert (output.tokens_used, output.cost_usd) == (7, 0.5)
    kept = json.loads((tmp_path / "run/records/.shell/a.jsonl").read_text("utf-8"))
    assert kept == {"input": 7, "cost": 0.5}
    trajectory = json.loads((tmp_path / "run/trajectory.json").read_text("utf-8"))
    assert trajectory["agent"]["name"] == "shell"
    assert result.output.artifacts["records"] == "records"
    assert result.output.artifacts["trajectory"] == "trajectory.json"


def test_what_its_records_call_an_error_is_one(bench: Bench, tmp_path: Path) -> None:
    """Whatever it changed before, and whatever it ended with."""
    result = run(bench, tmp_path, f"{FIX}; {record(error='503 for good', input=7)}")
    assert result.outcome == "error"
    assert result.message == "503 for good"
    assert result.score.failure_modes[0].code == "agent.error"
    assert result.output is not None
    assert result.output.agent.tokens_used == 7


def test_an_error_at_the_limit_is_an_error_and_no_time_out(
    bench: Bench, tmp_path: Path
) -> None:
    script = f"{record(error='401')}; sleep 100"
    result = run(bench, tmp_path, script, timeout_seconds=1)
    assert result.outcome == "error"
    assert result.message == "401 (the agent was ended after 1 seconds)"


def test_what_it_had_used_is_known_after_a_time_out(
    bench: Bench, tmp_path: Path
) -> None:
    script = f"{record(input=9)}; sleep 100"
    result = run(bench, tmp_path, script, timeout_seconds=1)
    assert result.score.failure_modes[0].code == "agent.timeout"
    assert result.output is not None
    assert result.output.agent.tokens_used == 9


def test_a_limit_of_its_own_is_no_error_though_it_ends_badly(
    bench: Bench, tmp_path: Path
) -> None:
    result = run(bench, tmp_path, f"{record(stopped_by='turns')}; exit 1")
    assert result.outcome == "failed"
    assert result.score.failure_modes[0].code == "agent.no_patch"
    assert result.output is not None
    assert result.output.agent.metadata["stopped_by"] == "turns"


def test_a_program_that_is_not_there_is_unavailable(
    bench: Bench, tmp_path: Path
) -> None:
    result = run(bench, tmp_path, "true", options={"program": "no-such-shell"})
    assert result.outcome == "error"
    assert result.score.failure_modes[0].code == "agent.unavailable"
    assert result.message == (
        "agent 'shell': 'no-such-shell' is not installed on this machine; install it: "
        "apt-get install dash (or name it in the option 'program')"
    )


def test_without_a_key_it_is_unavailable(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHELL_API_KEY")
    result = run(bench, tmp_path, "true")
    assert result.score.failure_modes[0].code == "agent.unavailable"
    assert "set SHELL_API_KEY in your environment" in result.message


def test_the_run_file_may_give_the_key(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHELL_API_KEY")
    result = run(bench, tmp_path, FIX, env={"SHELL_API_KEY": "sk-from-the-run-file"})
    assert result.outcome == "passed", result.message


def test_another_variable_and_a_login_stand_in_for_the_key(tmp_path: Path) -> None:
    agent = configured(api_key_variable="MY_KEY")
    assert agent.probe({"MY_KEY": "x"}, shared=True) == ""
    assert "set MY_KEY in" in agent.probe({"SHELL_API_KEY": "x"}, shared=True)
    (tmp_path / "home" / "login.json").touch()
    agent = configured(home_files=["login.json"])
    assert agent.probe({}, shared=True) == ""
    assert agent.get_home_files("/home/x")["login.json"] == tmp_path / "home/login.json"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_turn": 3}, "unknown option 'max_turn' (did you mean 'max_turns'?)"),
        ({"max_turns": "many"}, "the option 'max_turns': Input should be a valid int"),
        (
            {"base_url": "api.example.org"},
            "must be a URL such as http://127.0.0.1:8080",
        ),
        ({"base_url": "http://x:99999"}, "must be a URL"),
        ({"home_files": ["/etc/passwd"]}, "takes paths below your home"),
        ({"home_files": ["../x"]}, "takes paths below your home"),
        ({"home_files": ["gone"]}, "names 'gone', but there is no such file in"),
        ({"network": "a:1"}, "the option 'network'"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(AgentUnavailable) as told:
        configured(**options)
    assert reason in str(told.value)
    assert str(told.value).startswith("agent 'shell': ")


@pytest.mark.parametrize(
    ("options", "endpoints"),
    [
        ({}, ("api.example.org:443",)),
        ({"base_url": "http://127.0.0.1:8080/v1"}, ("127.0.0.1:8080",)),
        ({"base_url": "http://[::1]/"}, ("[::1]:80",)),
        ({"network": ["b:2"]}, ("api.example.org:443", "b:2")),
    ],
)
def test_it_reaches_the_models_server_and_what_is_listed(
    options: dict[str, Any], endpoints: tuple[str, ...]
) -> None:
    assert configured(**options).get_endpoints() == endpoints


def test_it_is_told_its_limits_if_it_is_to_know_them() -> None:
    instance = EvalInstance(
        instance_id="a",
        repo="b",
        problem_statement="Mend it.\n",
        metadata={"timeout_seconds": 90.0},
    )
    assert configured(max_turns=3).build_prompt(instance) == "Mend it.\n"
    told = configured(max_turns=3, tell_limits=True).build_prompt(instance)
    assert told == ("Mend it.\n\n---\nYour limits:\n- 90 seconds of time\n- 3 turns\n")


@pytest.mark.parametrize("workspace", ["sandbox", "docker"])
def test_on_the_host_it_edits_the_workspace_from_outside(
    bench: Bench, tmp_path: Path, workspace: str
) -> None:
    """Only there it can read what lies on this machine."""
    if workspace == "docker" and (fault := support_docker.missing()):
        pytest.skip(fault)
    (tmp_path / "only-outside").touch()
    result = run(
        bench,
        tmp_path,
        f"test -e {tmp_path}/only-outside && {FIX}",
        workspace=workspace,
        options={"execution_mode": "host"},
    )
    assert result.outcome == "passed", result.message
    assert result.output is not None
    assert result.output.agent.metadata["ran_in"] == "host"
    assert result.workspace == workspace


def test_what_is_in_a_login_is_in_nothing_that_is_kept(
    bench: Bench, tmp_path: Path
) -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.abc"
    (tmp_path / "home" / "login.json").write_text(json.dumps({"token": token}), "utf-8")
    script = "cat ~/login.json; cat ~/login.json >> thermometer.py"
    options = {"home_files": ["login.json"]}
    result = run(bench, tmp_path, script, options=options)
    assert result.output is not None
    assert result.output.agent.stdout == '{"token": "[redacted]"}'
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path for path in files if token.encode() in path.read_bytes()] == []
