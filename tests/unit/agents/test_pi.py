"""pi: what it is started with, and what its session says.

The samples are of version 0.73.1 (tests/data/agents/record_other_clis.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.pi import PiAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


DATA = Path(__file__).parents[2] / "data/agents/pi"
SESSION = ".pi/agent/sessions/--testbed--/session.jsonl"
MODELS = ".pi/agent/models.json"
INSTANCE = EvalInstance(
    instance_id="a",
    repo="b",
    problem_statement="Fix it.",
    metadata={"workspace": "sandbox", "shares_programs": False},
)
LOCAL: dict[str, Any] = {"model": "fake", "base_url": "http://127.0.0.1:1/v1"}
PRICES = {"input": 3, "output": 15}


def configured(**options: Any) -> PiAgent:
    agent = PiAgent()
    agent.configure(options)
    return agent


def local_provider(**options: Any) -> dict[str, Any]:
    text = configured(**LOCAL, **options).get_home_files("/home/x")[MODELS]
    value: dict[str, Any] = json.loads(str(text))["providers"]["local"]
    return value


def sample(name: str) -> tuple[str, str, dict[str, bytes]]:
    stdout = (DATA / name / "stdout.txt").read_text(encoding="utf-8")
    stderr = (DATA / name / "stderr.txt").read_text(encoding="utf-8")
    (file,) = (DATA / name / "records").iterdir()
    return stdout, stderr, {SESSION: file.read_bytes()}


def report(name: str, **options: Any) -> AgentReport:
    stdout, stderr, records = sample(name)
    agent = configured(**{**LOCAL, "prices": PRICES, **options})
    return agent.read_report(stdout, stderr, 0, records)


def test_options_reach_the_command_line() -> None:
    agent = configured(
        provider="openai",
        model="gpt-5",
        thinking="low",
        tools=["read", "bash"],
        arguments=["--no-skills"],
    )
    words = agent.build_command(INSTANCE, "/testbed")
    assert words[words.index("--provider") + 1] == "openai"
    assert words[words.index("--model") + 1] == "gpt-5"
    assert words[words.index("--thinking") + 1] == "low"
    assert words[words.index("--tools") + 1] == "read,bash"
    assert words[-1] == "--no-skills"
    assert agent.get_endpoints() == ("api.openai.com:443",)
    assert agent.key_variables() == ("OPENAI_API_KEY",)


def test_without_options_it_chooses_for_itself() -> None:
    words = configured().build_command(INSTANCE, "/testbed")
    for option in ("--model", "--thinking", "--tools"):
        assert option not in words
    assert MODELS not in configured().get_home_files("/home/x")


def test_another_server() -> None:
    words = configured(**LOCAL).build_command(INSTANCE, "/testbed")
    assert words[words.index("--provider") + 1] == "local"
    prices = {**PRICES, "cache_read": 0.3}
    assert local_provider(api="openai-responses", prices=prices) == {
        "baseUrl": "http://127.0.0.1:1/v1",
        "api": "openai-responses",
        "apiKey": "OPENAI_API_KEY",
        "models": [
            {
                "id": "fake",
                "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3},
            }
        ],
    }


@pytest.mark.parametrize(
    ("thinking", "reasons"), [(None, False), ("off", False), ("high", True)]
)
def test_behind_another_server_it_thinks_if_it_is_to(
    thinking: str | None, reasons: bool
) -> None:
    (model,) = local_provider(thinking=thinking)["models"]
    assert model.get("reasoning", False) == reasons


def test_a_key_in_a_variable_of_ones_own_gets_the_name_that_it_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-canary-0123456789")
    agent = configured(provider="groq", api_key_variable="MY_KEY")
    assert agent.get_environment()["GROQ_API_KEY"] == "sk-canary-0123456789"
    assert local_provider(api_key_variable="MY_KEY")["apiKey"] == "MY_KEY"


def test_a_provider_that_is_not_known_here_takes_what_is_listed() -> None:
    agent = configured(
        provider="zai", inherit=["ZAI_API_KEY"], network=["api.z.ai:443"]
    )
    assert agent.probe({}, shared=False) == ""
    assert agent.get_endpoints() == ("api.z.ai:443",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"thinking": "a lot"}, "the option 'thinking': Input should be 'off'"),
        ({"api": "chat"}, "the option 'api': Input should be 'anthropic-messages'"),
        ({"prices": {"cacheRead": 1}}, "the option 'prices.input': Field required"),
        ({"max_turns": 3}, "unknown option 'max_turns'"),
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
    assert (usage.output_tokens, usage.turns) == (150, 3)
    assert usage.cost_usd == pytest.approx(3 * (1200 * 3 + 50 * 15) / 1e6)
    assert (told.error, told.stopped_by) == ("", "")
    assert told.model == "fake"


def test_without_prices_its_cost_is_unknown() -> None:
    assert report("fixed", prices=None).usage.cost_usd is None


@pytest.mark.parametrize(
    ("name", "words", "turns"),
    [
        ("refused", "answered with an error: 400 scripted error 400", 1),
        ("retrying", "answered with an error: 500 scripted error 500", None),
    ],
)
def test_what_it_meets_is_an_error(name: str, words: str, turns: int | None) -> None:
    told = report(name)
    assert words in told.error
    assert told.usage.turns == turns
    # It says 0 of what failed, which is not known.
    assert (told.usage.cost_usd is None) == (turns is None)


def test_an_answer_after_one_that_was_cut_off_is_no_error() -> None:
    told = report("cut")
    assert told.error == ""
    assert (told.usage.turns, told.usage.output_tokens) == (3, 150)


def test_what_it_used_is_known_though_it_was_ended() -> None:
    told = report("ended")
    assert (told.error, told.usage.output_tokens, told.usage.turns) == ("", 50, 1)


def test_why_it_did_not_begin_is_told() -> None:
    told = configured().read_report("", 'Error: Unknown provider "x"\n', 1, {})
    assert told.error == 'pi did not begin: Error: Unknown provider "x"'


def test_no_record_is_too_bad(garble: Callable[[bytes], list[bytes]]) -> None:
    _, stderr, records = sample("cut")
    for bad in garble(records[SESSION]):
        agent = configured(**LOCAL, prices=PRICES)
        agent.take_records({SESSION: bad})
        output = agent.parse_output(bad.decode(errors="replace"), stderr, 1, 1.0)
        assert output.to_json()
        trajectory = agent.get_trajectory()
        assert trajectory is None or trajectory.to_json()
