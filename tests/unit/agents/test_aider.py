"""How aider is started, and what its records say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.aider import AiderAgent
from pytest_codegenie.agents.aider_records import CHAT
from pytest_codegenie.agents.aider_records import HISTORY
from pytest_codegenie.agents.aider_records import LOG
from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.protocol import Usage
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.trajectories import Trajectory
from pytest_codegenie.trajectories import TrajectoryAgent


DATA = Path(__file__).parents[2] / "data" / "agents" / "aider"


def configured(**options: Any) -> AiderAgent:
    agent = AiderAgent()
    agent.configure({"model": "openai/fake", **options})
    return agent


def instance(statement: str = "Mend it.") -> EvalInstance:
    place = {
        "home": "/home/agent",
        "problem_file": "/scratch/problem.md",
        "timeout_seconds": 60.0,
        "shares_programs": True,
    }
    return EvalInstance(
        instance_id="a", repo="r", problem_statement=statement, metadata=place
    )


def command(**options: Any) -> list[str]:
    return configured(**options).build_command(instance(), "/testbed")


def recorded(name: str) -> dict[str, bytes]:
    files = (DATA / name).iterdir()
    return {f"aider/{file.name}": file.read_bytes() for file in files}


def read(
    records: Mapping[str, bytes],
    *,
    stdout: str = "",
    exit_code: int = 0,
    **options: Any,
) -> AgentReport:
    return configured(**options).read_report(stdout, "", exit_code, records)


def trajectory(report: AgentReport) -> Trajectory:
    assert report.steps is not None
    built = report.steps.build(TrajectoryAgent(name="aider", version="1"))
    assert built is not None
    return built


def home_file(name: str, **options: Any) -> Any:
    text = configured(**options).get_home_files("/home/agent")[name]
    assert isinstance(text, str)
    return json.loads(text)


def after(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def test_it_asks_nobody_and_leaves_nothing_in_the_repository() -> None:
    words = command()
    assert after(words, "--message-file") == "/scratch/problem.md"
    assert after(words, "--model") == "openai/fake"
    flags = {"--yes-always", "--no-auto-commits", "--no-gitignore", "--no-analytics"}
    assert flags < set(words)
    for flag in ("analytics-log", "chat-history-file", "llm-history-file"):
        assert after(words, f"--{flag}").startswith("/home/agent/aider/")
    assert after(words, "--input-history-file").startswith("/home/agent/aider/")
    assert "--model-metadata-file" not in words
    assert home_file(".aider/analytics.json")["permanently_disable"] is True
    # An empty one would be fetched.
    assert home_file(".aider/caches/model_prices_and_context_window.json")


def test_options_reach_its_command_line() -> None:
    words = command(
        edit_format="udiff",
        map_tokens=0,
        weak_model="openai/small",
        editor_model="openai/hand",
        effort="high",
        lint=False,
        files=("a.py", "b/c.py"),
        read=("README.md",),
        prices={"input": 3, "output": 15},
        arguments=("--cache-prompts",),
    )
    assert after(words, "--edit-format") == "udiff"
    assert after(words, "--map-tokens") == "0"
    assert after(words, "--weak-model") == "openai/small"
    assert after(words, "--editor-model") == "openai/hand"
    assert after(words, "--reasoning-effort") == "high"
    assert "--no-check-model-accepts-settings" in words
    assert "--no-auto-lint" in words
    assert after(words, "--read") == "README.md"
    assert words[-5:] == ["--file", "a.py", "--file", "b/c.py", "--cache-prompts"]
    assert after(words, "--model-metadata-file") == "/home/agent/aider/prices.json"
    assert "--test-cmd" not in words


def test_a_server_and_settings_of_the_model_are_in_its_settings_file() -> None:
    assert home_file("aider/settings.yml") == []
    settings = home_file(
        "aider/settings.yml",
        base_url="http://127.0.0.1:80/v1",
        model_settings={"edit_format": "diff", "name": "x"},
    )
    assert settings == [
        {"edit_format": "diff", "name": "openai/fake"},
        {
            "name": "aider/extra_params",
            "extra_params": {"api_base": "http://127.0.0.1:80/v1"},
        },
    ]


@pytest.mark.parametrize(
    ("model", "variable"),
    [("sonnet", "ANTHROPIC_API_KEY"), ("4o", "OPENAI_API_KEY"), ("r1", "DEEPSEEK_API")],
)
def test_its_short_names_tell_the_provider(model: str, variable: str) -> None:
    assert variable in configured(model=model).probe({}, shared=False)


@pytest.mark.parametrize("start", ["/add secret", "!rm -rf ."])
def test_a_problem_that_begins_like_a_command_is_none(start: str) -> None:
    assert configured().build_prompt(instance(start)) == f"\n{start}"
    assert configured().build_prompt(instance("x!")) == "x!"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edit_format": "dif"}, "'edit_format': Input should be 'architect', 'diff'"),
        ({"map_tokens": -1}, "'map_tokens': Input should be greater than or equal"),
        ({"files": ["/etc/passwd"]}, "'files' takes paths below the tree, got '/etc"),
        ({"read": ["../x"]}, "'read' takes paths below the tree, got '../x'"),
        ({"file": ["x"]}, r"unknown option 'file' \(did you mean 'files'\?\)"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentUnavailable, match=message):
        configured(**options)


def test_its_index_is_removed_and_the_project_keeps_its_path(tmp_path: Path) -> None:
    """Its tests find the project; its own imports do not."""
    program = tmp_path / "aider"
    program.write_text(
        '#!/bin/sh\nmkdir .aider.tags.cache.v4\necho "[$PYTHONPATH]"\n'
        'while [ "$1" != --test-cmd ]; do shift; done\nsh -c "$2"\nexit 3\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    (tmp_path / "tree").mkdir()
    agent = configured(program=str(program), test_command='echo "<$PYTHONPATH>"')
    done = subprocess.run(
        agent.build_command(instance(), "/testbed"),
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": "/testbed/src"},
        cwd=tmp_path / "tree",
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.stdout == "[]\n</testbed/src>\n"
    assert done.returncode == 3
    assert list((tmp_path / "tree").iterdir()) == []


def test_its_index_is_removed_when_it_is_ended_too(tmp_path: Path) -> None:
    program = tmp_path / "aider"
    program.write_text(
        "#!/bin/sh\nmkdir .aider.tags.cache.v4\necho ready\nexec sleep 600\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    (tmp_path / "tree").mkdir()
    with subprocess.Popen(
        configured(program=str(program)).build_command(instance(), "/testbed"),
        env={"PATH": "/usr/bin:/bin"},
        cwd=tmp_path / "tree",
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGTERM)
    assert process.returncode == 128 + signal.SIGTERM
    assert list((tmp_path / "tree").iterdir()) == []


def test_what_it_used_and_did_is_read() -> None:
    report = read(recorded("fixed"), stdout="\nAider v0.86.2\nModel: x\n")
    usage = report.usage
    assert usage.cost_usd == pytest.approx(0.0075)
    assert (usage.input_tokens, usage.output_tokens, usage.turns) == (2000, 100, 2)
    assert usage.cached_tokens is None
    assert (report.error, report.stopped_by) == ("", "")
    assert report.version == "0.86.2"
    assert "is left out" in (report.facts or {})["cost_note"]
    steps = trajectory(report).steps
    assert [step.source for step in steps] == [
        *("system", "user", "agent", "user", "agent")
    ]
    assert steps[1].message.startswith("# Fahrenheit values are off")
    assert steps[2].message == "I have to see `thermometer.py` first."
    assert steps[3].message.startswith("I added these files to the chat: thermometer")
    assert ">>>>>>> REPLACE" in steps[4].message
    assert steps[4].metrics is not None
    assert steps[4].metrics.prompt_tokens == 1000


@pytest.mark.parametrize("unpriced", [1, 2])
def test_without_a_price_its_cost_is_unknown(unpriced: int) -> None:
    """It writes 0 then; the price of a part is not that of the whole."""
    records = recorded("fixed")
    lines = [json.loads(line) for line in records[LOG].splitlines()]
    answers = [event for event in lines if event["event"] == "message_send"]
    for event in answers[:unpriced]:
        event["properties"]["cost"] = 0.0
    log = "\n".join(json.dumps(event) for event in lines).encode()
    report = read({**records, LOG: log})
    assert report.usage.cost_usd is None
    assert report.usage.turns == 2
    assert report.facts == {}


def test_a_server_that_refuses_is_an_error_after_a_good_answer_too() -> None:
    report = read(recorded("refused"))
    assert report.error == (
        "aider: the model's server answered with an error: litellm.AuthenticationError:"
        " AuthenticationError: OpenAIException - scripted error 401"
    )
    assert report.usage.turns == 1
    assert [one.source for one in trajectory(report).steps][-2:] == ["agent", "user"]


def test_one_that_is_ended_while_it_asks_again_met_an_error() -> None:
    """One that just waits for its answer is none."""
    records = recorded("waiting")
    report = read(records, exit_code=-15)
    assert report.error.endswith("OpenAIException - scripted error 500")
    assert report.usage == Usage()
    quiet = records[CHAT].partition(b"> litellm.")[0]
    assert read({**records, CHAT: quiet}, exit_code=-15).error == ""


def test_its_limits_are_told_by_their_names() -> None:
    report = read(recorded("reflections"))
    assert (report.stopped_by, report.error) == ("turns", "")
    assert report.usage.turns == 4
    records = recorded("refused")
    chat = records[CHAT] + b"\n> Model openai/fake has hit a token limit!  \n> \n"
    report = read({**records, CHAT: chat})
    assert (report.stopped_by, report.error) == ("tokens", "")


def test_a_refused_length_leaves_out_what_aider_guesses() -> None:
    """It notes its own count for a question that the server did not take."""
    records = recorded("fixed")
    chat = records[CHAT] + b"> Model openai/fake has hit a token limit!  \n"
    report = read({**records, CHAT: chat})
    assert report.stopped_by == "tokens"
    assert report.usage.turns == 1
    assert report.usage.tokens == 1050


def test_settings_that_it_cannot_read_are_an_error() -> None:
    """It goes on without them, and so without the server that they name."""
    told = b"> Error loading aider model settings: unexpected keyword argument 'x'  \n"
    records = recorded("waiting")
    records[CHAT] = told + records[CHAT]
    report = read(records, model_settings={"x": 1})
    assert report.error == (
        "aider: the option 'model_settings': Error loading aider model settings: "
        "unexpected keyword argument 'x'"
    )
    assert "option" not in read(records).error


def test_one_that_does_not_begin_says_why() -> None:
    launched = {LOG: b'{"event": "launched"}\n'}
    report = read(launched, stdout="Unknown edit format\n", exit_code=1)
    assert report.error == "aider did not begin: Unknown edit format"
    ended = {LOG: launched[LOG] + b'{"event": "exit"}\n'}
    assert read(ended).error == "aider did not begin: no reason given"
    assert "'aider' is not in the image; pip install" in read({}, exit_code=127).error
    # Ended by the limit before its first question.
    assert read(launched, exit_code=143).error == ""


@pytest.mark.parametrize("name", ["fixed", "refused", "reflections", "waiting"])
def test_records_that_are_cut_tell_what_they_have(name: str) -> None:
    whole = recorded(name)
    size = max(map(len, whole.values()))
    turns = []
    for length in range(0, size, size // 40):
        cut = {file: content[:length] for file, content in whole.items()}
        report = read(cut, exit_code=-15)
        turns.append(report.usage.turns or 0)
        if length > len(whole[LOG]) + 20:
            trajectory(report)
    assert turns == sorted(turns)
    assert turns[-1] == (read(whole).usage.turns or 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\n" * 9,
        b"TO LLM 2026-01-01T00:00:00\nLLM RESPONSE 2026-99-99T00:00:00\nASSISTANT x\n",
        b"LLM RESPONSE 2026-01-01T00:00:00\nASSISTANT\n-------\nUSER\n",
        b"> \n>\n>>> Retrying in ... seconds...\n",
        b'{"event": "message_send", "properties": {"prompt_tokens": "x", "cost": -1}}',
        b'{"event": ["message_send"]}\n{"event": "message_send", "properties": 3}',
        b'{"event": "message_send", "properties": {"completion_tokens": 1e999}}',
    ],
)
def test_what_are_no_records_do_no_harm(content: bytes) -> None:
    report = read(dict.fromkeys((LOG, CHAT, HISTORY), content))
    assert report.usage.tokens is None
    assert report.usage.cost_usd is None
    assert report.steps is not None
    report.steps.build(TrajectoryAgent(name="aider", version="1"))
