"""opencode: what it is started with, and what its output says.

The samples are of version 1.18.33 (tests/data/agents/record_other_clis.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.opencode import OpencodeAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


DATA = Path(__file__).parents[2] / "data/agents/opencode"
LOG = ".local/share/opencode/log/opencode.log"
INSTANCE = EvalInstance(
    instance_id="a",
    repo="b",
    problem_statement="Fix it.",
    metadata={"workspace": "sandbox", "shares_programs": False},
)
LOCAL: dict[str, Any] = {"model": "fake", "base_url": "http://127.0.0.1:1/v1"}


def configured(**options: Any) -> OpencodeAgent:
    agent = OpencodeAgent()
    agent.configure({"model": "anthropic/claude-sonnet-4-5", **options})
    return agent


def config(**options: Any) -> dict[str, Any]:
    content = configured(**options).settings()["OPENCODE_CONFIG_CONTENT"]
    value: dict[str, Any] = json.loads(content)
    return value


def sample(name: str) -> tuple[str, str, dict[str, bytes]]:
    stdout = (DATA / name / "stdout.txt").read_text(encoding="utf-8")
    stderr = (DATA / name / "stderr.txt").read_text(encoding="utf-8")
    log = (DATA / name / "records/opencode.log").read_bytes()
    return stdout, stderr, {LOG: log}


def report(name: str, **options: Any) -> AgentReport:
    prices = {"input": 3, "output": 15}
    agent = configured(**{**LOCAL, "prices": prices, **options})
    stdout, stderr, records = sample(name)
    return agent.read_report(stdout, stderr, 0, records)


def test_options_reach_the_command_line() -> None:
    agent = configured(model="openai/gpt-5", variant="high", arguments=["--thinking"])
    words = agent.build_command(INSTANCE, "/testbed")
    assert words[:5] == ["opencode", "run", "--pure", "--format", "json"]
    assert words[words.index("--model") + 1] == "openai/gpt-5"
    assert words[words.index("--variant") + 1] == "high"
    assert words[-1] == "--thinking"
    assert agent.get_endpoints() == ("api.openai.com:443",)
    assert agent.key_variables() == ("OPENAI_API_KEY",)


def test_no_other_model_and_no_title_is_asked_for() -> None:
    words = configured().build_command(INSTANCE, "/testbed")
    assert "--title" in words
    assert config()["small_model"] == "anthropic/claude-sonnet-4-5"
    assert config()["enabled_providers"] == ["anthropic"]


@pytest.mark.parametrize(
    ("options", "permission"),
    [
        ({}, {"*": "allow", "webfetch": "deny", "websearch": "deny"}),
        ({"web": True}, {"*": "allow"}),
        (
            {"permissions": {"bash": "deny"}},
            {"bash": "deny", "webfetch": "deny", "websearch": "deny"},
        ),
        ({"permissions": {"bash": "deny"}, "web": True}, {"bash": "deny"}),
    ],
)
def test_what_it_may_do(options: dict[str, Any], permission: dict[str, str]) -> None:
    assert config(**options)["permission"] == permission


@pytest.mark.parametrize(
    ("api", "package", "variable"),
    [
        ("openai-completions", "@ai-sdk/openai-compatible", "OPENAI_API_KEY"),
        ("openai-responses", "@ai-sdk/openai", "OPENAI_API_KEY"),
        ("anthropic-messages", "@ai-sdk/anthropic", "ANTHROPIC_API_KEY"),
    ],
)
def test_another_server(api: str, package: str, variable: str) -> None:
    prices = {"input": 3, "output": 15, "cache_read": 0.3}
    agent = configured(**LOCAL, api=api, prices=prices)
    told = config(**LOCAL, api=api, prices=prices)
    assert told["model"] == "local/fake"
    assert told["provider"]["local"] == {
        "npm": package,
        "options": {
            "baseURL": "http://127.0.0.1:1/v1",
            "apiKey": f"{{env:{variable}}}",
        },
        "models": {"fake": {"cost": {"input": 3, "output": 15, "cache_read": 0.3}}},
    }
    assert agent.get_endpoints() == ("127.0.0.1:1",)
    assert agent.key_variables() == (variable,)


def test_a_variant_makes_it_a_model_that_reasons() -> None:
    model = config(**LOCAL, variant="high")["provider"]["local"]["models"]["fake"]
    assert model["reasoning"] is True


def test_its_key_stays_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-canary-0123456789")
    agent = configured(api_key_variable="MY_KEY")
    assert agent.get_environment()["MY_KEY"] == "sk-canary-0123456789"
    told = config(api_key_variable="MY_KEY")["provider"]["anthropic"]
    assert told == {"options": {"apiKey": "{env:MY_KEY}"}}
    assert "sk-canary" not in json.dumps(agent.settings())


def test_it_is_quiet_and_installs_nothing() -> None:
    agent = configured()
    assert agent.settings()["OPENCODE_DISABLE_MODELS_FETCH"] == "1"
    lock = agent.get_home_files("/home/x")[".config/opencode/package-lock.json"]
    assert "@opencode-ai/plugin" in str(lock)
    assert ".config/opencode/node_modules/.keep" in agent.get_home_files("/home/x")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": None}, "must be 'provider/model', such as"),
        ({"model": "gpt-5"}, "must be 'provider/model', such as"),
        ({"model": None, "base_url": "http://127.0.0.1:1"}, "must be 'provider/model'"),
        ({"permission": {}}, "unknown option 'permission' (did you mean 'permission"),
        ({"api": "chat"}, "the option 'api': Input should be"),
        ({"prices": {"input": 1}}, "the option 'prices.output': Field required"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentUnavailable) as told:
        configured(**options)
    assert words in str(told.value)


def test_a_run_is_told_whole() -> None:
    told = report("fixed")
    assert told.usage.input_tokens == 3600
    assert told.usage.cached_tokens == 600
    assert told.usage.output_tokens == 150
    assert told.usage.turns == 3
    assert told.usage.cost_usd == pytest.approx(3 * (1000 * 3 + 50 * 15) / 1e6)
    assert (told.error, told.stopped_by, told.facts) == ("", "", None)
    assert told.version == "1.18.33"
    assert (told.session_id or "").startswith("ses_")


def test_without_prices_its_cost_is_unknown() -> None:
    assert report("fixed", prices=None).usage.cost_usd is None


def test_steps_have_calls_and_what_came_of_them() -> None:
    stdout, stderr, records = sample("fixed")
    agent = configured(**LOCAL)
    agent.build_prompt(INSTANCE)
    agent.take_records(records)
    agent.parse_output(stdout, stderr, 0, 1.0)
    trajectory = agent.get_trajectory()
    assert trajectory is not None
    first, look, edit, last = trajectory.steps
    assert first.message == "Fix it."
    assert (look.message, edit.message, last.message) == ("Look.", "Edit.", "Fixed.")
    assert look.tool_calls is not None
    assert look.tool_calls[0].function_name == "read"
    assert look.observation is not None
    assert "thermometer.py" in (look.observation.results[0].content or "")


@pytest.mark.parametrize(
    ("name", "words", "turns"),
    [
        ("refused", "the model's server answered with an error: scripted error 400", 1),
        (
            "retrying",
            "answered with an error: AI_APICallError: scripted error 500",
            None,
        ),
        (
            "asked",
            "asked for a permission that it did not get: edit (thermometer.py)",
            2,
        ),
    ],
)
def test_what_it_hides_is_an_error(name: str, words: str, turns: int | None) -> None:
    told = report(name)
    assert words in told.error
    assert told.usage.turns == turns


def test_what_it_used_is_known_though_it_was_ended() -> None:
    told = report("ended")
    assert told.error == ""
    assert (told.usage.output_tokens, told.usage.turns) == (50, 1)


def test_a_question_after_an_error_is_no_error_yet() -> None:
    """It waits for an answer, which is what a time-out says."""
    stdout, stderr, records = sample("retrying")
    log = records[LOG].decode()
    assert report("retrying").error
    later = log.replace('message="stream error"', "message=other").encode()
    agent = configured(**LOCAL)
    assert agent.read_report(stdout, stderr, -15, {LOG: later}).error == ""
    asked = next(line for line in log.splitlines() if "message=stream " in line)
    again = asked.replace("timestamp=2026", "timestamp=2027")
    records = {LOG: f"{log}\n{again}\n".encode()}
    assert agent.read_report(stdout, stderr, -15, records).error == ""


def test_an_answer_after_an_error_is_no_error() -> None:
    _, stderr, records = sample("retrying")
    stdout, *_ = sample("fixed")
    log = records[LOG].replace(b"timestamp=2026-", b"timestamp=2025-")
    told = configured(**LOCAL).read_report(stdout, stderr, 0, {LOG: log})
    assert told.error == ""


def test_what_its_subagents_used_is_said_to_be_left_out() -> None:
    told = report("helper")
    assert told.usage.turns == 2
    assert told.facts == {"cost_note": "tokens and cost of its subagents are left out"}


def test_a_model_that_it_does_not_know_is_told_so() -> None:
    data = {"message": "Unexpected server error. Check server logs for details."}
    event = {"type": "error", "error": {"name": "UnknownError", "data": data}}
    told = configured().read_report(json.dumps(event), "", 1, {})
    assert "'opencode models' lists those that it knows" in told.error


def test_too_long_an_answer_says_something_of_its_work() -> None:
    event = {"type": "error", "error": {"name": "MessageOutputLengthError"}}
    assert configured().read_report(json.dumps(event), "", 1, {}).error == ""


def test_why_it_did_not_begin_is_told() -> None:
    told = configured().read_report("", "Error: bad config\n", 1, {})
    assert told.error == "opencode did not begin: Error: bad config"


def test_no_output_is_too_bad(garble: Callable[[bytes], list[bytes]]) -> None:
    stdout, stderr, records = sample("asked")
    for bad in garble(stdout.encode()):
        for log in (records[LOG], bad):
            agent = configured(**LOCAL)
            agent.take_records({LOG: log})
            output = agent.parse_output(bad.decode(errors="replace"), stderr, 0, 1.0)
            assert output.to_json()
            trajectory = agent.get_trajectory()
            assert trajectory is None or trajectory.to_json()
