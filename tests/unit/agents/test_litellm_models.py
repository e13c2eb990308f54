"""Models, keys, servers and prices of agents that ask through litellm."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_codegenie.agents.aider import AiderAgent
from pytest_codegenie.agents.litellm_models import LitellmAgent
from pytest_codegenie.agents.mini_swe_agent import MiniSweAgent
from pytest_codegenie.errors import AgentUnavailable


def configured(model: str, **options: Any) -> MiniSweAgent:
    agent = MiniSweAgent()
    agent.configure({"model": model, **options})
    return agent


@pytest.mark.parametrize(
    ("model", "variable", "endpoint"),
    [
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY", "api.anthropic.com:443"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY", "api.anthropic.com:443"),
        ("gpt-5", "OPENAI_API_KEY", "api.openai.com:443"),
        ("o3-mini", "OPENAI_API_KEY", "api.openai.com:443"),
        ("openrouter/a/b", "OPENROUTER_API_KEY", "openrouter.ai:443"),
    ],
)
def test_the_provider_is_known_by_the_model(
    model: str, variable: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = configured(model)
    assert agent.get_endpoints() == (endpoint,)
    assert variable in agent.probe({}, shared=False)
    monkeypatch.setenv(variable, "sk-1")
    assert agent.get_environment()[variable] == "sk-1"
    assert agent.probe({variable: "sk-1"}, shared=False) == ""


def test_a_provider_that_is_not_known_is_asked_for_nothing() -> None:
    agent = configured("ollama/llama3", network=("10.0.0.1:11434",))
    assert agent.get_endpoints() == ("10.0.0.1:11434",)
    assert agent.probe({}, shared=False) == ""


@pytest.mark.parametrize(
    ("model", "usual"),
    [
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("gemini/x", "GEMINI_API_KEY"),
        ("together_ai/x", "TOGETHER_AI_API_KEY"),
    ],
)
def test_a_key_of_another_name_gets_the_name_that_litellm_looks_for(
    model: str, usual: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-2")
    monkeypatch.setenv(usual, "of somebody else")
    environment = configured(model, api_key_variable="MY_KEY").get_environment()
    assert environment[usual] == "sk-2"


def test_a_key_of_another_name_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    agent = configured("openai/x", api_key_variable="MY_KEY")
    assert "MY_KEY" in agent.probe(agent.get_environment(), shared=False)


@pytest.mark.parametrize(
    ("model", "url", "base"),
    [
        ("openai/x", "http://127.0.0.1:80/v1/", "http://127.0.0.1:80/v1"),
        ("anthropic/x", "http://127.0.0.1:80/v1", "http://127.0.0.1:80"),
        ("anthropic/x", "http://127.0.0.1:80", "http://127.0.0.1:80"),
    ],
)
def test_a_server_is_named_as_litellm_extends_it(
    model: str, url: str, base: str
) -> None:
    agent = configured(model, base_url=url)
    assert agent.api_base() == base
    assert agent.get_endpoints() == ("127.0.0.1:80",)


def test_prices_are_of_one_token() -> None:
    agent = configured("openai/x", prices={"input": 3, "output": 15, "cache_read": 0.3})
    assert agent.price_table(max_tokens=9) == {
        "openai/x": {
            "litellm_provider": "openai",
            "mode": "chat",
            "input_cost_per_token": 3e-6,
            "output_cost_per_token": 15e-6,
            "cache_read_input_token_cost": 0.3e-6,
            "cache_creation_input_token_cost": 3e-6,
            "max_tokens": 9,
        }
    }
    assert configured("openai/x").price_table() == {}


@pytest.mark.parametrize("agent", [AiderAgent, MiniSweAgent])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "the option 'model' is missing; name one as litellm does"),
        ({"modle": "x"}, r"unknown option 'modle' \(did you mean 'model'\?\)"),
        ({"model": "x", "prices": {"input": 1}}, "'prices.output': Field required"),
        (
            {"model": "x", "prices": {"input": -1, "output": 1}},
            "'prices.input': Input should be greater than or equal to 0, got -1",
        ),
        (
            {"model": "x", "prices": {"input": 1, "output": 1, "cached": 1}},
            "'prices.cached': Extra inputs are not permitted",
        ),
        ({"model": "x", "base_url": "localhost"}, "'base_url' must be a URL"),
    ],
)
def test_wrong_options_are_refused(
    agent: type[LitellmAgent[Any]], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(AgentUnavailable, match=message):
        agent().configure(options)
