"""Codex: what it is started with, and what its records say.

The samples are of version 0.169.0 (tests/data/agents/record_claude_and_codex.py).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.codex import CodexAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


DATA = Path(__file__).parents[2] / "data/agents/codex"
SESSIONS = ".codex/sessions/2026/11/22"
CANARY = "sk-canary-93c1f07d5e2a4b86"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("HOME", str(tmp_path))


def configured(**options: Any) -> CodexAgent:
    agent = CodexAgent()
    agent.configure(options)
    return agent


def command(workspace: str = "sandbox", **options: Any) -> list[str]:
    place = {"workspace": workspace, "shares_programs": False}
    task = EvalInstance(
        instance_id="a", repo="b", problem_statement="Fix it.", metadata=place
    )
    return configured(**options).build_command(task, "/testbed")


def settings(**options: Any) -> dict[str, Any]:
    files = configured(**options).get_home_files("/home/agent")
    return tomllib.loads(str(files[".codex/config.toml"]))


def login(tmp_path: Path) -> str:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/auth.json").write_text("{}", encoding="utf-8")
    return ".codex/auth.json"


def sample(name: str) -> tuple[str, bytes]:
    stdout = (DATA / name / "stdout.jsonl").read_text(encoding="utf-8")
    return stdout, (DATA / name / "session.jsonl").read_bytes()


def report(stdout: str, *sessions: bytes, stderr: str = "") -> AgentReport:
    records = {
        f"{SESSIONS}/rollout-{number}.jsonl": data
        for number, data in enumerate(sessions)
    }
    return configured().read_report(stdout, stderr, 0, records)


def used(told: AgentReport) -> tuple[int | None, ...]:
    usage = told.usage
    return (
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.turns,
    )


# -- the command line, its settings and its environment -----------------------------


@pytest.mark.parametrize(
    ("workspace", "options", "mode"),
    [
        ("host", {}, "workspace-write"),
        ("sandbox", {}, "danger-full-access"),
        ("docker", {}, "danger-full-access"),
        ("host", {"permissions": "danger-full-access"}, "danger-full-access"),
        ("sandbox", {"permissions": "workspace-write"}, "workspace-write"),
    ],
)
def test_its_own_sandbox_is_off_inside_of_another(
    workspace: str, options: dict[str, str], mode: str
) -> None:
    words = command(workspace, **options)
    assert words[words.index("--sandbox") + 1] == mode


def test_options_reach_the_command_line() -> None:
    words = command(model="gpt-x", arguments=["-c", "a=1"])
    assert words[words.index("--model") + 1] == "gpt-x"
    assert words[-3:] == ["-c", "a=1", "-"]
    assert "--model" not in command()


def test_options_reach_its_settings() -> None:
    usual = settings()
    assert usual["web_search"] == "disabled"
    assert "model_reasoning_effort" not in usual
    told = settings(web=True, effort="high", retries=3)
    assert "web_search" not in told
    assert told["model_reasoning_effort"] == "high"
    server = told["model_providers"]["codegenie"]
    assert (server["request_max_retries"], server["stream_max_retries"]) == (0, 3)


def test_it_is_quiet_and_gives_up_in_time() -> None:
    told = settings()
    assert told["analytics"] == {"enabled": False}
    assert told["check_for_update_on_startup"] is False
    # With it, it waits for a server that cannot be reached until its limit.
    assert told["features"]["unbounded_connection_retries"] is False
    assert set(told["otel"].values()) == {"none"}


def test_its_key_stays_in_a_variable() -> None:
    agent = configured()
    assert agent.get_environment()["OPENAI_API_KEY"] == CANARY
    files = agent.get_home_files("/home/agent")
    assert CANARY not in json.dumps({key: str(text) for key, text in files.items()})
    told = settings()
    server = told["model_providers"]["codegenie"]
    assert server["env_key"] == "OPENAI_API_KEY"
    assert server["base_url"] == "https://api.openai.com/v1"
    # Its commands do not get it.
    assert told["shell_environment_policy"] == {"exclude": ["OPENAI_API_KEY"]}


def test_a_key_in_a_variable_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", "another-key")
    agent = configured(api_key_variable="OUR_KEY")
    environment = agent.get_environment()
    assert environment["OUR_KEY"] == "another-key"
    assert "OPENAI_API_KEY" not in environment
    server = settings(api_key_variable="OUR_KEY")["model_providers"]["codegenie"]
    assert server["env_key"] == "OUR_KEY"


def test_another_server() -> None:
    agent = configured(base_url="http://127.0.0.1:8080/v1")
    assert agent.get_endpoints() == ("127.0.0.1:8080",)
    server = settings(base_url="http://127.0.0.1:8080/v1")
    entry = server["model_providers"]["codegenie"]
    assert entry["base_url"] == "http://127.0.0.1:8080/v1"
    assert configured().get_endpoints() == ("api.openai.com:443",)


def test_a_login_stands_alone(tmp_path: Path) -> None:
    """With a key beside it, the key would be billed."""
    agent = configured(home_files=[login(tmp_path)])
    assert CANARY not in agent.get_environment().values()
    assert agent.probe(agent.get_environment(), shared=False) == ""
    assert agent.get_endpoints() == (
        "chatgpt.com:443",
        "auth.openai.com:443",
        "api.openai.com:443",
    )
    server = settings(home_files=[".codex/auth.json"])["model_providers"]["codegenie"]
    assert server["requires_openai_auth"] is True
    assert "env_key" not in server
    assert "base_url" not in server


def test_other_files_of_the_home_do_not_take_the_key(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    agent = configured(home_files=["AGENTS.md"])
    assert agent.get_environment()["OPENAI_API_KEY"] == CANARY


def test_settings_of_the_user_are_merged_with_its_own(tmp_path: Path) -> None:
    path = tmp_path / ".codex/config.toml"
    path.parent.mkdir()
    text = """
        model_provider = "mine"
        personality = "none"
        [model_providers.mine]
        name = "mine"
        [analytics]
        enabled = true
    """
    path.write_text(text, encoding="utf-8")
    told = settings(home_files=[".codex/config.toml"])
    assert told["personality"] == "none"
    assert sorted(told["model_providers"]) == ["codegenie", "mine"]
    assert told["model_provider"] == "codegenie"
    assert told["analytics"] == {"enabled": False}
    assert "personality" not in settings()
    path.write_text("model = ", encoding="utf-8")
    with pytest.raises(
        AgentUnavailable, match=r"config.toml \(the option 'home_files'"
    ):
        configured(home_files=[".codex/config.toml"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permissions": "read-only"}, "'permissions': Input should be 'workspace-"),
        ({"permission": "x"}, "'permission' (did you mean 'permissions'?)"),
        ({"max_turns": 3}, "unknown option 'max_turns'"),
        ({"retries": 101}, "'retries': Input should be less than or equal to 100"),
        ({"effort": "huge"}, "'effort': Input should be 'none', 'minimal', "),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentUnavailable) as caught:
        configured(**options)
    assert words in str(caught.value)


# -- what its records say -----------------------------------------------------------


def test_a_run_is_told_whole() -> None:
    told = report(*sample("fixed"))
    assert used(told) == (3600, 600, 150, 3)
    assert told.usage.cost_usd is None
    assert (told.error, told.stopped_by) == ("", "")
    assert (told.model, told.version) == ("fake", "0.169.0")
    assert told.session_id
    assert told.session_id in sample("fixed")[0]


def steps_of(told: AgentReport) -> list[dict[str, Any]]:
    trajectory = configured()._build_trajectory(told)
    assert trajectory is not None
    steps: list[dict[str, Any]] = json.loads(trajectory.to_json())["steps"]
    return steps


def test_items_of_an_answer_are_one_step() -> None:
    steps = steps_of(report(*sample("fixed")))
    assert [step["source"] for step in steps] == [
        "system",
        "system",
        "user",
        "user",
        "agent",
        "agent",
        "agent",
    ]
    assert steps[3]["message"].startswith("# Fahrenheit values are off")
    edit = steps[5]
    assert edit["message"] == "Edit."
    assert [call["arguments"]["cmd"][:5] for call in edit["tool_calls"]] == [
        "sed -",
        "sleep",
    ]
    assert "1 file changed" in edit["observation"]["results"][1]["content"]
    assert edit["metrics"] == {
        "prompt_tokens": 1200,
        "completion_tokens": 50,
        "cached_tokens": 200,
    }


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("error", "codex: We\u2019re currently experiencing high demand"),
        ("retrying", "codex: Reconnecting... 5/30 (We\u2019re currently"),
        (
            "broken-sandbox",
            "codex: its own sandbox does not work here, so that none of its commands "
            "ran; set the option 'permissions' to 'danger-full-access'",
        ),
    ],
)
def test_what_it_hides_is_an_error(name: str, error: str) -> None:
    told = report(*sample(name))
    assert told.error.startswith(error)


def test_the_kind_of_a_fault_is_told() -> None:
    assert report(*sample("error")).error.endswith("(internal_server_error)")


def test_its_output_alone_tells_of_an_error() -> None:
    stdout, _ = sample("error")
    assert report(stdout).error.startswith("codex: We\u2019re currently")


def test_what_it_used_is_known_though_it_was_killed() -> None:
    told = report(*sample("ended"))
    assert used(told) == (1200, 200, 50, 1)
    assert told.error == ""


def test_its_output_stands_in_for_a_session_that_is_gone() -> None:
    stdout, _ = sample("fixed")
    assert used(report(stdout)) == (3600, 600, 150, None)
    killed = "\n".join(stdout.splitlines()[:-1])
    assert used(report(killed)) == (None, None, None, None)


def test_helpers_count_but_nothing_counts_twice() -> None:
    """A helper's session may begin with a copy of that of its parent."""
    stdout, session = sample("fixed")
    own = b'"response_id": "resp_h0"'
    first, *_ = (line for line in session.splitlines() if b"token_usage_rec" in line)
    helper = session + b"\n" + first.replace(b'"response_id": "resp_t0"', own)
    told = report(stdout, session, helper)
    assert used(told) == (4800, 800, 200, 4)
    assert len(steps_of(told)) == 7


@pytest.mark.parametrize(
    ("attempt", "is_error"), [("1/5", False), ("2/5", True), ("5/5", True)]
)
def test_one_error_before_a_slow_answer_is_no_reason(
    attempt: str, is_error: bool
) -> None:
    stdout, session = sample("ended")
    line = {"type": "error", "message": f"Reconnecting... {attempt} (some fault)"}
    told = report(f"{stdout}{json.dumps(line)}\n", session)
    assert bool(told.error) == is_error


def test_one_command_that_ran_shows_a_sandbox_that_works() -> None:
    stdout, session = sample("broken-sandbox")
    assert report(stdout, session.replace(b'"exit_code": 1,', b'"exit_code": 0,', 1))
    ran = session.replace(b'"exit_code": 1,', b'"exit_code": 0,', 1)
    assert ran != session
    assert report(stdout, ran).error == ""


def test_why_it_did_not_begin_is_told() -> None:
    told = report("", stderr="error: unexpected argument '--efort' found\n")
    assert told.error == (
        "codex did not begin: error: unexpected argument '--efort' found"
    )


def test_no_record_is_too_bad(garble: Callable[[bytes], list[bytes]]) -> None:
    """Whatever stands in records, reading them does not fail."""
    agent = configured()
    for name in ("fixed", "error", "broken-sandbox"):
        stdout, session = sample(name)
        for printed in garble(stdout.encode()):
            agent.take_records({f"{SESSIONS}/a.jsonl": session})
            output = agent.parse_output(printed.decode(errors="replace"), "x", 0, 1.0)
            output.to_json()
        for bad in garble(session):
            agent.take_records({f"{SESSIONS}/a.jsonl": bad})
            agent.parse_output("", "", 0, 1.0).to_json()
            if trajectory := agent.get_trajectory():
                trajectory.to_json()
