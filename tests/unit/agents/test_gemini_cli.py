"""Gemini CLI: what it is started with, and what its session says.

The samples are of version 0.61.0 (tests/data/agents/record_other_clis.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.gemini_cli import GeminiCliAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


DATA = Path(__file__).parents[2] / "data/agents/gemini-cli"
SESSION = ".gemini/tmp/testbed/chats/session-2026-11-22T07-01-00000000.jsonl"
INSTANCE = EvalInstance(
    instance_id="a",
    repo="b",
    problem_statement="/chat is broken.",
    metadata={"workspace": "sandbox", "shares_programs": False},
)


def configured(**options: Any) -> GeminiCliAgent:
    agent = GeminiCliAgent()
    agent.configure(options)
    return agent


def settings(**options: Any) -> dict[str, Any]:
    text = configured(**options).get_home_files("/home/x")[".gemini/settings.json"]
    value: dict[str, Any] = json.loads(str(text))
    return value


def sample(name: str) -> tuple[str, str, dict[str, bytes]]:
    stdout = (DATA / name / "stdout.txt").read_text(encoding="utf-8")
    stderr = (DATA / name / "stderr.txt").read_text(encoding="utf-8")
    (file,) = (DATA / name / "records").iterdir()
    return stdout, stderr, {SESSION: file.read_bytes()}


def report(name: str) -> AgentReport:
    stdout, stderr, records = sample(name)
    return configured().read_report(stdout, stderr, 0, records)


def test_options_reach_the_command_line_and_its_settings() -> None:
    agent = configured(
        model="gemini-2.5-pro", permissions="auto_edit", arguments=["--debug"]
    )
    words = agent.build_command(INSTANCE, "/testbed")
    assert words[words.index("--model") + 1] == "gemini-2.5-pro"
    assert words[words.index("--approval-mode") + 1] == "auto_edit"
    assert words[-1] == "--debug"
    told = settings(max_turns=9, attempts=2)
    assert told["model"] == {"maxSessionTurns": 9}
    assert told["general"]["maxAttempts"] == 2
    assert told["tools"] == {"exclude": ["google_web_search", "web_fetch"]}


def test_without_options_it_chooses_for_itself() -> None:
    words = configured().build_command(INSTANCE, "/testbed")
    assert "--model" not in words
    assert words[words.index("--approval-mode") + 1] == "yolo"
    assert "model" not in settings()
    assert "tools" not in settings(web=True)


def test_it_is_quiet() -> None:
    told = settings()
    assert told["privacy"]["usageStatisticsEnabled"] is False
    assert told["telemetry"]["enabled"] is False
    assert told["general"]["enableAutoUpdate"] is False


def test_another_server_and_a_key_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-canary-0123456789")
    agent = configured(base_url="http://127.0.0.1:1", api_key_variable="MY_KEY")
    assert agent.get_endpoints() == ("127.0.0.1:1",)
    environment = agent.get_environment()
    assert environment["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:1"
    assert environment["GEMINI_API_KEY"] == "sk-canary-0123456789"
    assert "sk-canary" not in str(agent.get_home_files("/home/x"))
    server = "generativelanguage.googleapis.com:443"
    assert configured().get_endpoints() == (server,)


def test_a_login_has_servers_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    login = tmp_path / ".gemini/oauth_creds.json"
    login.parent.mkdir()
    login.touch()
    agent = configured(home_files=[".gemini/oauth_creds.json"])
    assert agent.probe({}, shared=False) == ""
    assert "cloudcode-pa.googleapis.com:443" in agent.get_endpoints()
    files = agent.get_home_files("/home/x")
    assert files[".gemini/oauth_creds.json"] == login
    assert '"oauth-personal"' in str(files[".gemini/settings.json"])


def test_a_task_is_never_a_command_of_its_own() -> None:
    assert configured().build_prompt(INSTANCE) == " /chat is broken."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attempts": 11}, "the option 'attempts': Input should be less than or equal"),
        ({"permissions": "plan"}, "the option 'permissions': Input should be 'auto_ed"),
        ({"turns": 3}, "unknown option 'turns' (did you mean 'max_turns'?)"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentUnavailable) as told:
        configured(**options)
    assert words in str(told.value)


def test_a_run_is_told_whole() -> None:
    told = report("fixed")
    usage = told.usage
    assert (usage.input_tokens, usage.cached_tokens) == (3600, 600)
    assert (usage.output_tokens, usage.turns, usage.cost_usd) == (150, 3, None)
    assert (told.error, told.stopped_by) == ("", "")
    assert told.model == "gemini-2.5-flash"
    assert told.session_id == "00000000-0000-4000-8000-000000000001"


def test_steps_have_calls_and_what_came_of_them() -> None:
    stdout, stderr, records = sample("fixed")
    agent = configured()
    agent.take_records(records)
    agent.parse_output(stdout, stderr, 0, 1.0)
    trajectory = agent.get_trajectory()
    assert trajectory is not None
    context, task, look, edit, last = trajectory.steps
    assert context.message.startswith("<session_context>")
    assert task.message.startswith("# Fahrenheit values are off")
    assert (look.message, edit.message, last.message) == ("Look.", "Edit.", "Fixed.")
    assert look.tool_calls is not None
    assert look.tool_calls[0].arguments == {"file_path": "thermometer.py"}
    assert look.observation is not None
    assert "to_fahrenheit" in (look.observation.results[0].content or "")


@pytest.mark.parametrize(
    ("name", "words", "turns"),
    [("refused", "scripted error 400", 1), ("retrying", "scripted error 500", None)],
)
def test_what_it_meets_is_an_error(name: str, words: str, turns: int | None) -> None:
    told = report(name)
    assert told.error.startswith("gemini-cli: the model's server answered with an err")
    assert words in told.error
    assert told.usage.turns == turns


def test_an_answer_after_an_error_is_no_error() -> None:
    _, retrying, _ = sample("retrying")
    stdout, _, records = sample("ended")
    told = configured().read_report(stdout, retrying, -15, records)
    assert told.error == ""


def test_what_it_used_is_known_though_it_was_ended() -> None:
    told = report("ended")
    assert (told.error, told.usage.output_tokens, told.usage.turns) == ("", 50, 1)


def test_its_own_limit_is_no_error() -> None:
    told = report("turns")
    assert (told.stopped_by, told.error) == ("turns", "")


def test_subagents_count_but_their_steps_are_their_own() -> None:
    stdout, stderr, records = sample("fixed")
    (session,) = records.values()
    helper = session.replace(b'"kind": "main"', b'"kind": "subagent"')
    assert helper != session
    both = {SESSION: session, f"{SESSION}/helper.jsonl": helper}
    agent = configured()
    agent.take_records(both)
    output = agent.parse_output(stdout, stderr, 0, 1.0)
    assert (output.metadata["turns"], output.tokens_used) == (6, 2 * 3750)
    trajectory = agent.get_trajectory()
    assert trajectory is not None
    assert len(trajectory.steps) == 5


def test_thoughts_are_output_and_reasoning() -> None:
    thought = {"subject": "Look", "description": "at the file"}
    tokens = {"input": 10, "output": 5, "cached": 0, "thoughts": 3, "tool": 0}
    head = {"sessionId": "a", "kind": "main"}
    answer = {"id": "1", "type": "gemini", "content": "", "thoughts": [thought]}
    lines = [json.dumps(head), json.dumps({**answer, "tokens": tokens})]
    agent = configured()
    agent.take_records({SESSION: "\n".join(lines).encode()})
    output = agent.parse_output("", "", 0, 1.0)
    assert output.metadata["output_tokens"] == 8
    trajectory = agent.get_trajectory()
    assert trajectory is not None
    assert trajectory.steps[0].reasoning_content == "Look: at the file"


def test_why_it_did_not_begin_is_told() -> None:
    told = configured().read_report("", "Unknown argument: x\n", 1, {})
    assert told.error == "gemini-cli did not begin: Unknown argument: x"


def test_no_record_is_too_bad(garble: Callable[[bytes], list[bytes]]) -> None:
    stdout, stderr, records = sample("fixed")
    (session,) = records.values()
    for bad in garble(session):
        agent = configured()
        agent.take_records({SESSION: bad, f"{SESSION}/2.jsonl": session})
        output = agent.parse_output(stdout, stderr, 1, 1.0)
        assert output.to_json()
        trajectory = agent.get_trajectory()
        assert trajectory is None or trajectory.to_json()
    for bad in garble(stdout.encode()):
        text = bad.decode(errors="replace")
        assert configured().parse_output(text, text, 1, 1.0).to_json()
