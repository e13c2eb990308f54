"""How mini-swe-agent is started, and what its trajectory says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.mini_swe_agent import MiniSweAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.trajectories import Trajectory
from pytest_codegenie.trajectories import TrajectoryAgent


DATA = Path(__file__).parents[2] / "data" / "agents" / "mini-swe-agent"
FILE = "mini/mini.traj.json"


def configured(**options: Any) -> MiniSweAgent:
    agent = MiniSweAgent()
    agent.configure({"model": "openai/fake", **options})
    return agent


def instance(home: Path | str = "/home/agent", statement: str = "Mend it.") -> Any:
    place = {
        "home": str(home),
        "problem_file": "/scratch/problem.md",
        "timeout_seconds": 60.0,
        "shares_programs": True,
    }
    return EvalInstance(
        instance_id="a", repo="r", problem_statement=statement, metadata=place
    )


def command(**options: Any) -> list[str]:
    return configured(**options).build_command(instance(), "/testbed")


def read(
    name: str, *, stdout: str = "", stderr: str = "", exit_code: int = 0, **options: Any
) -> AgentReport:
    records = {FILE: (DATA / name).read_bytes()}
    return configured(**options).read_report(stdout, stderr, exit_code, records)


def trajectory(report: AgentReport) -> Trajectory:
    assert report.steps is not None
    built = report.steps.build(TrajectoryAgent(name="mini-swe-agent", version="1"))
    assert built is not None
    return built


def settings(**options: Any) -> dict[str, Any]:
    text = configured(**options).get_home_files("/home/agent")["mini/settings.yaml"]
    assert isinstance(text, str)
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_it_asks_nobody_and_ends_by_itself() -> None:
    words = command()
    assert words[:2] == ["sh", "-c"]
    assert {"--yolo", "--exit-immediately"} < set(words)
    assert words[words.index("--model") + 1] == "openai/fake"
    configs = [words[n + 1] for n, word in enumerate(words) if word == "--config"]
    assert configs == [
        *("mini.yaml", "mini/settings.yaml", "mini/task.yaml"),
        "environment.cwd=/testbed",
    ]
    environment = configured(attempts=7).get_environment()
    assert environment["MSWEA_CONFIGURED"] == "true"
    assert environment["MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT"] == "7"
    assert environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


def test_options_reach_its_configuration() -> None:
    assert settings() == {
        "agent": {},
        "environment": {"env": {"PYTHONUNBUFFERED": ""}},
        "model": {"cost_tracking": "ignore_errors", "model_kwargs": {}},
    }
    given = settings(
        max_turns=9,
        max_cost_usd=1.5,
        command_timeout_seconds=70,
        effort="high",
        base_url="http://127.0.0.1:80/v1",
        prices={"input": 3, "output": 15},
    )
    assert given["agent"] == {"step_limit": 9, "cost_limit": 1.5}
    assert given["environment"]["timeout"] == 70
    assert given["model"]["litellm_model_registry"] == "mini/prices.json"
    assert given["model"]["model_kwargs"] == {
        "api_base": "http://127.0.0.1:80/v1",
        "reasoning_effort": "high",
        "allowed_openai_params": ["reasoning_effort"],
    }


def test_effort_is_said_as_the_dialect_has_it() -> None:
    other = settings(model="anthropic/x", effort="low")["model"]["model_kwargs"]
    assert other == {"reasoning_effort": "low"}
    responses = settings(model_class="litellm_response", effort="low")
    assert responses["model"]["model_kwargs"] == {"reasoning": {"effort": "low"}}


def test_a_kind_of_model_has_its_own_prompt() -> None:
    words = command(model_class="litellm_textbased", arguments=("--more",))
    assert words[words.index("--model-class") + 1] == "litellm_textbased"
    assert "mini_textbased.yaml" in words
    assert words[-1] == "--more"


def test_a_configuration_of_yours_is_laid_over_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text("agent: {step_limit: 3}\n", encoding="utf-8")
    agent = configured(config="own.yaml")
    files = agent.get_home_files("/home/agent")
    assert files["mini/config.yaml"] == tmp_path / "own.yaml"
    words = agent.build_command(instance(), "/testbed")
    assert words.index("mini.yaml") < words.index("mini/config.yaml")
    assert words.index("mini/config.yaml") < words.index("mini/settings.yaml")
    with pytest.raises(AgentUnavailable, match="'config' names 'other"):
        configured(config="other.yaml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_turns": 0}, "'max_turns': Input should be greater than 0, got 0"),
        ({"max_cost_usd": 0}, "'max_cost_usd': Input should be greater than 0"),
        ({"attempts": 0}, "'attempts': Input should be greater than 0"),
        ({"model_class": "portkey"}, "'model_class': Input should be 'litellm'"),
        ({"max_turn": 1}, r"unknown option 'max_turn' \(did you mean 'max_turns'\?\)"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentUnavailable, match=message):
        configured(**options)


def test_the_task_reaches_it_whole_and_the_project_keeps_its_path(
    tmp_path: Path,
) -> None:
    """Longer than an argument may be, and with all that YAML or a shell minds."""
    home = tmp_path / "home"
    (home / "mini").mkdir(parents=True)
    program = tmp_path / "mini"
    program.write_text(
        '#!/bin/sh\npwd; echo "[$PYTHONPATH]"; printf "%s\\n" "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    statement = '!it\'s "`$HOME`" {{ x }} \x1b \u2028 é\n' * 9000
    task = instance(home, statement)
    agent = configured(program=str(program))
    done = subprocess.run(
        agent.build_command(task, "/testbed"),
        input=agent.build_prompt(task),
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "/testbed/src"},
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    lines = done.stdout.splitlines()
    assert lines[:2] == [str(home), "[]"]
    assert lines[-2:] == ["-c", "environment.env.PYTHONPATH=/testbed/src"]
    given = json.loads((home / "mini" / "task.yaml").read_text(encoding="utf-8"))
    assert given == {"run": {"task": statement}}


def test_what_it_used_and_did_is_read() -> None:
    """An answer that could not be used was paid for, too."""
    report = read("fixed.traj.json")
    usage = report.usage
    assert usage.cost_usd == pytest.approx(0.0168)
    assert (usage.input_tokens, usage.cached_tokens) == (4600, 600)
    assert (usage.output_tokens, usage.turns) == (200, 4)
    assert (report.error, report.stopped_by) == ("", "")
    assert (report.model, report.version) == ("openai/fake", "2.4.6")
    assert report.facts == {"exit_status": "Submitted"}
    steps = trajectory(report).steps
    assert [step.source for step in steps] == [
        *("system", "user", "agent", "user", "agent", "agent", "agent")
    ]
    assert steps[2].message == "I think it is wrong."
    assert "Tool call error" in steps[3].message
    look = steps[4]
    assert look.tool_calls is not None
    assert look.tool_calls[0].arguments == {"command": "cat thermometer.py"}
    assert look.observation is not None
    assert "to_fahrenheit" in (look.observation.results[0].content or "")
    assert look.metrics is not None
    assert look.metrics.cost_usd == pytest.approx(0.00435)


@pytest.mark.parametrize(
    ("name", "tokens", "calls"),
    [("responses.traj.json", 2500, 1), ("text.traj.json", 2100, 0)],
)
def test_other_kinds_of_models_are_read(name: str, tokens: int, calls: int) -> None:
    report = read(name)
    assert report.usage.tokens == tokens
    assert report.usage.turns == 2
    agent_steps = [one for one in trajectory(report).steps if one.source == "agent"]
    assert len(agent_steps) == 2
    assert len(agent_steps[0].tool_calls or ()) == calls
    assert agent_steps[0].message.startswith("Edit.")
    assert agent_steps[0].observation is not None


@pytest.mark.parametrize("unpriced", [1, 4])
def test_without_a_price_its_cost_is_unknown(unpriced: int) -> None:
    """It writes 0 then, and its limit of cost cannot hold."""
    data = json.loads((DATA / "fixed.traj.json").read_text(encoding="utf-8"))
    answers = [one for one in data["messages"] if "cost" in one.get("extra", {})]
    assert len(answers) == 4
    for message in answers[:unpriced]:
        message["extra"]["cost"] = 0
    records = {FILE: json.dumps(data).encode()}
    report = configured(max_cost_usd=1).read_report("", "", 0, records)
    assert report.usage.cost_usd is None
    assert report.usage.turns == 4
    assert "max_cost_usd could not hold" in (report.facts or {})["cost_note"]


def test_what_it_costs_at_most_is_its_own_configuration_s_if_nobody_says(
    tmp_path: Path,
) -> None:
    config = tmp_path / "mini.yaml"
    config.write_text("agent: {cost_limit: 9}\n", encoding="utf-8")
    assert configured(max_cost_usd=1.5).get_cost_limit_usd() == 1.5
    assert configured().get_cost_limit_usd() == 3.0
    assert configured(config=config).get_cost_limit_usd() is None


def test_a_limit_of_its_own_is_told_by_its_name() -> None:
    assert read("turns.traj.json").stopped_by == "turns"
    data = (DATA / "turns.traj.json").read_text(encoding="utf-8")
    for old, new, told in (
        ('"step_limit": 2', '"step_limit": 0', "cost"),
        ("LimitsExceeded", "ContextWindowExceededError", "tokens"),
    ):
        records = {FILE: data.replace(old, new).encode()}
        report = configured().read_report("", "", 0, records)
        assert (report.stopped_by, report.error) == (told, "")


def test_an_end_by_an_exception_is_an_error_with_its_reason() -> None:
    report = read("refused.traj.json", exit_code=1)
    assert report.error == (
        "mini-swe-agent: the model's server answered with an error: "
        "litellm.AuthenticationError: AuthenticationError: OpenAIException - scripted "
        "error 401"
    )
    assert report.usage.turns == 1
    data = (DATA / "refused.traj.json").read_text(encoding="utf-8")
    data = data.replace("litellm.Auth", "Auth").replace(
        '"exit_status": "Auth', '"exit_status": "Other'
    )
    other = configured().read_report("", "", 1, {FILE: data.encode()})
    assert other.error.startswith("mini-swe-agent ended with OtherenticationError: ")


def test_one_that_is_ended_while_it_asks_again_met_an_error() -> None:
    """Its trajectory does not say so; one that just waits is no error."""
    stdout = (DATA / "waiting.out").read_text(encoding="utf-8")
    stderr = (DATA / "waiting.err").read_text(encoding="utf-8")
    report = read("waiting.traj.json", stdout=stdout, stderr=stderr, exit_code=-15)
    assert report.error.endswith("OpenAIException - scripted error 500.")
    assert report.usage.tokens == 1250
    answered = stdout + "\nmini-swe-agent (step 2, $0.01):\nEdit.\n"
    for out in (answered, stdout + "\n" + 80 * "\N{BOX DRAWINGS LIGHT HORIZONTAL}"):
        report = read("waiting.traj.json", stdout=out, stderr=stderr, exit_code=-15)
        assert report.error == ""


def test_one_that_does_not_begin_says_why() -> None:
    agent = configured()
    report = agent.read_report("", "No such option: --x\n", 2, {})
    assert report.error == "mini-swe-agent did not begin: No such option: --x"
    report = agent.read_report("", "sh: exec: mini: not found", 127, {})
    assert "'mini' is not in the image; pip install mini-swe-agent==" in report.error
    # Ended by the limit before its first answer.
    assert agent.read_report("", "a warning", -15, {}).error == ""


def test_a_trajectory_that_is_cut_tells_what_it_has() -> None:
    whole = (DATA / "fixed.traj.json").read_bytes()
    agent = configured()
    turns = []
    for length in range(0, len(whole) + 1, 97):
        report = agent.read_report("", "", -15, {FILE: whole[:length]})
        turns.append(report.usage.turns or 0)
        assert report.error == ""
        if report.usage.turns:
            trajectory(report)
    assert turns == sorted(turns)
    assert set(turns) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff",
        b"[" * 50_000,
        b'{"messages": 1, "info": []}',
        b'{"info": {"exit_status": 5, "config": 1}, "messages": [1, null, [], {}]}',
        b'{"messages": [{"role": 1, "extra": 3}, {"role": "tool", "content": {}}]}',
        b'{"messages": [{"role": "assistant", "content": [[]], "tool_calls": [1, {}],'
        b' "extra": {"response": {"usage": {"prompt_tokens": "many"}}, "cost": -1,'
        b' "timestamp": "yesterday"}}]}',
        b'{"messages": [{"object": "response", "output": [1, {"type": "message"},'
        b' {"type": "function_call", "arguments": 7, "call_id": []}],'
        b' "usage": {"input_tokens": 1e999, "output_tokens": true}}]}',
    ],
)
def test_what_is_no_trajectory_does_no_harm(content: bytes) -> None:
    report = configured().read_report("", "", 0, {FILE: content})
    assert report.usage.tokens is None
    assert report.usage.cost_usd is None
    assert report.stopped_by == ""
    assert report.steps is not None
    report.steps.build(TrajectoryAgent(name="mini-swe-agent", version="1"))
