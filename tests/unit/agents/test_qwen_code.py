"""Qwen Code: what it is started with, and what its session says.

The samples are of version 0.15.10 (tests/data/agents/record_other_clis.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.qwen_code import QwenCodeAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


DATA = Path(__file__).parents[2] / "data/agents/qwen-code"
SESSION = ".qwen/projects/-testbed/chats/00000000-0000-4000-8000-000000000001.jsonl"


def instance(statement: str = "Fix it.") -> EvalInstance:
    place = {"workspace": "sandbox", "shares_programs": False}
    return EvalInstance(
        instance_id="a", repo="b", problem_statement=statement, metadata=place
    )


def configured(**options: Any) -> QwenCodeAgent:
    agent = QwenCodeAgent()
    agent.configure(options)
    return agent


def command(**options: Any) -> list[str]:
    return configured(**options).build_command(instance(), "/testbed")


def value_of(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


def settings(**options: Any) -> dict[str, Any]:
    text = configured(**options).get_home_files("/home/x")[".qwen/settings.json"]
    value: dict[str, Any] = json.loads(str(text))
    return value


def sample(name: str) -> tuple[str, str, dict[str, bytes]]:
    stdout = (DATA / name / "stdout.txt").read_text(encoding="utf-8")
    stderr = (DATA / name / "stderr.txt").read_text(encoding="utf-8")
    (file,) = (DATA / name / "records").iterdir()
    return stdout, stderr, {SESSION: file.read_bytes()}


def report(name: str, exit_code: int = 0) -> AgentReport:
    stdout, stderr, records = sample(name)
    return configured().read_report(stdout, stderr, exit_code, records)


def test_options_reach_the_command_line() -> None:
    words = command(
        model="qwen3-coder", max_turns=7, permissions="auto-edit", arguments=["--debug"]
    )
    assert value_of(words, "--model") == "qwen3-coder"
    assert value_of(words, "--max-session-turns") == "7"
    assert value_of(words, "--approval-mode") == "auto-edit"
    assert value_of(words, "--exclude-tools") == "web_fetch,web_search"
    assert words[-1] == "--debug"


def test_without_options_it_chooses_for_itself() -> None:
    words = command(web=True)
    assert value_of(words, "--approval-mode") == "yolo"
    for option in ("--model", "--max-session-turns", "--exclude-tools"):
        assert option not in words


@pytest.mark.parametrize(
    ("api", "key", "url", "server"),
    [
        ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "api.openai.com:443"),
        (
            "anthropic",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "api.anthropic.com:443",
        ),
        (
            "gemini",
            "GEMINI_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "generativelanguage.googleapis.com:443",
        ),
    ],
)
def test_its_dialect_says_where_its_server_and_its_key_are(
    api: str, key: str, url: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-canary-0123456789")
    assert value_of(command(api=api), "--auth-type") == api
    assert configured(api=api).get_endpoints() == (server,)
    assert configured(api=api).key_variables() == (key,)
    agent = configured(
        api=api, base_url="http://127.0.0.1:1/v1", api_key_variable="MY_KEY"
    )
    assert agent.get_endpoints() == ("127.0.0.1:1",)
    assert agent.get_environment()[key] == "sk-canary-0123456789"
    assert agent.get_environment()[url] == "http://127.0.0.1:1/v1"
    assert settings(api=api)["security"]["auth"]["selectedType"] == api
    assert "sk-canary" not in str(agent.get_home_files("/home/x"))


def test_it_is_quiet_and_remembers_nothing() -> None:
    told = settings(effort="high")
    assert told["privacy"]["usageStatisticsEnabled"] is False
    assert told["telemetry"]["enabled"] is False
    assert told["general"]["enableAutoUpdate"] is False
    assert told["memory"]["enableManagedAutoMemory"] is False
    assert told["model"]["generationConfig"]["reasoning"] == {"effort": "high"}
    assert "reasoning" not in settings()["model"]["generationConfig"]


def test_a_task_is_never_a_command_of_its_own() -> None:
    agent = configured()
    assert agent.build_prompt(instance("/help is broken")) == " /help is broken"
    assert agent.build_prompt(instance("Fix /help.")) == "Fix /help."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_turn": 1}, "unknown option 'max_turn' (did you mean 'max_turns'?)"),
        ({"max_turns": 0}, "the option 'max_turns': Input should be greater than"),
        ({"permissions": "plan"}, "the option 'permissions': Input should be 'auto-ed"),
        ({"api": "qwen-oauth"}, "the option 'api': Input should be 'anthropic', 'gem"),
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
    assert (told.model, told.version) == ("fake", "0.15.10")
    assert told.session_id == "00000000-0000-4000-8000-000000000001"


def test_steps_have_calls_and_what_came_of_them() -> None:
    stdout, stderr, records = sample("fixed")
    agent = configured()
    agent.take_records(records)
    agent.parse_output(stdout, stderr, 0, 1.0)
    trajectory = agent.get_trajectory()
    assert trajectory is not None
    first, look, edit, last = trajectory.steps
    assert first.message.startswith("# Fahrenheit values are off")
    assert (look.message, edit.message, last.message) == ("Look.", "Edit.", "Fixed.")
    assert look.tool_calls is not None
    assert look.tool_calls[0].arguments["command"] == "cat thermometer.py"
    assert look.observation is not None
    assert "to_fahrenheit" in (look.observation.results[0].content or "")


@pytest.mark.parametrize(
    ("name", "words", "turns"),
    [
        ("refused", "answered with an error: 400 scripted error 400", 1),
        ("retrying", "answered with an error: 500 scripted error 500", None),
    ],
)
def test_what_it_hides_is_an_error(name: str, words: str, turns: int | None) -> None:
    told = report(name)
    assert words in told.error
    assert told.usage.turns == turns


def test_a_question_that_was_broken_off_at_the_limit_is_no_error() -> None:
    told = report("ended", -15)
    assert told.error == ""
    assert (told.usage.output_tokens, told.usage.turns) == (50, 1)


def test_an_error_without_a_session_is_told_too() -> None:
    printed = "[API Error: 401 no such key]\n"
    told = configured().read_report("", printed, 1, {})
    assert "answered with an error: 401 no such key" in told.error


def test_an_answer_after_an_error_is_no_error() -> None:
    """It asks again, and the session has both."""
    _, _, retrying = sample("retrying")
    stdout, stderr, fixed = sample("fixed")
    records = {SESSION: retrying[SESSION] + fixed[SESSION]}
    assert configured().read_report(stdout, stderr, 0, records).error == ""


def test_its_own_limit_is_no_error() -> None:
    told = report("turns", 53)
    assert (told.stopped_by, told.error) == ("turns", "")


def test_subagents_count_but_their_steps_are_their_own() -> None:
    told = report("helper")
    assert (told.usage.turns, told.usage.output_tokens) == (3, 105)
    assert told.steps is not None


def test_why_it_did_not_begin_is_told() -> None:
    told = configured().read_report("", "No auth type is selected.\n", 1, {})
    assert told.error == "qwen-code did not begin: No auth type is selected."


def test_thoughts_count_as_output_where_the_dialect_tells_them_apart() -> None:
    event = {
        "event.name": "qwen-code.api_response",
        "input_token_count": 10,
        "output_token_count": 5,
        "thoughts_token_count": 3,
    }
    line = json.dumps({"systemPayload": {"uiEvent": event}}).encode()
    by_dialect = {
        api: configured(api=api).read_report("", "", 0, {SESSION: line}).usage
        for api in ("openai", "gemini")
    }
    assert by_dialect["openai"].output_tokens == 5
    assert by_dialect["gemini"].output_tokens == 8


def test_no_record_is_too_bad(garble: Callable[[bytes], list[bytes]]) -> None:
    _, _, records = sample("helper")
    for bad in garble(records[SESSION]):
        agent = configured()
        agent.take_records({SESSION: bad, f"{SESSION}2": bad})
        output = agent.parse_output(bad.decode(errors="replace"), "", 1, 1.0)
        assert output.to_json()
        trajectory = agent.get_trajectory()
        assert trajectory is None or trajectory.to_json()
