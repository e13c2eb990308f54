"""What the adapter makes of the agent's output, and a run of it."""

from __future__ import annotations

import json

import pytest
from my_agent_plugin.agent import MyAgent

from pytest_codegenie import load_run
from pytest_codegenie.errors import AgentUnavailable


ANSWER = '{"event": "answer", "text": "Done."}\n'


@pytest.fixture
def agent() -> MyAgent:
    """The agent, as a run file without options sets it up."""
    agent = MyAgent()
    agent.configure({})
    return agent


def test_what_it_used_is_read_from_its_last_line(agent: MyAgent) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.5}
    end = json.dumps({"event": "end", "model": "large", "usage": usage})
    output = agent.parse_output(ANSWER + end, "", 0, 1.5)
    assert (output.tokens_used, output.cost_usd) == (120, 0.5)
    assert output.model_name == "large"
    assert output.metadata["turns"] == 1
    trajectory = agent.get_trajectory()
    assert trajectory is not None
    assert [step.message for step in trajectory.steps] == ["Done."]


def test_what_it_does_not_say_is_unknown(agent: MyAgent) -> None:
    output = agent.parse_output(ANSWER + '{"event": "en', "", -9, 1.5)
    assert (output.tokens_used, output.cost_usd) == (None, None)
    assert "error" not in output.metadata


def test_an_error_of_the_server_is_no_work_whatever_the_exit_code(
    agent: MyAgent,
) -> None:
    output = agent.parse_output('{"event": "error", "message": "429"}', "", 0, 1.5)
    assert output.metadata["error"] == "my-agent: the model's server answered: 429"
    output = agent.parse_output("", "no such option", 2, 0.1)
    assert output.metadata["error"] == "my-agent did not begin: no such option"


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(AgentUnavailable, match="did you mean 'max_turns'"):
        MyAgent().configure({"max_turn": 3})


def run(bench: pytest.Pytester) -> pytest.RunResult:
    """Run the case with the agent."""
    return bench.runpytest(
        *("--codegenie", "bench", "--codegenie-agent=my-agent"),
        *("--codegenie-workspace=host", "--codegenie-run-id=first"),
    )


def test_a_run_with_it_passes_and_its_cost_is_recorded(
    bench: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_AGENT_KEY", "a-valid-key")
    result = run(bench)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  cost     0.0125 USD as reported by the agent; *"])
    (recorded,) = load_run(bench.path / ".codegenie/runs/first").results
    assert recorded.output is not None
    assert recorded.output.agent.model_name == "small"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("expired", "*the model's server answered: 401 *"),
        ("", "*set MY_AGENT_KEY in *"),
    ],
)
def test_a_run_without_a_valid_key_is_an_error_and_no_failure(
    bench: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, key: str, message: str
) -> None:
    monkeypatch.setenv("MY_AGENT_KEY", key)
    result = run(bench)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
