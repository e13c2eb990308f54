"""Claude Code: what it is started with, and what its records say.

The samples are of version 2.1.197 (tests/data/agents/record_claude_and_codex.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.agents.base import AgentReport
from pytest_codegenie.agents.claude_code import ClaudeCodeAgent
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.models import EvalInstance


DATA = Path(__file__).parents[2] / "data/agents/claude-code"
SESSION = ".claude/projects/-testbed/00000000-0000-4000-8000-000000000001"
CANARY = "sk-canary-93c1f07d5e2a4b86"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("CLAUDE_CODE_OAUTH_TOKEN", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def configured(**options: Any) -> ClaudeCodeAgent:
    agent = ClaudeCodeAgent()
    agent.configure(options)
    return agent


def instance(workspace: str = "sandbox", statement: str = "Fix it.") -> EvalInstance:
    place = {"workspace": workspace, "shares_programs": False, "timeout_seconds": 60}
    return EvalInstance(
        instance_id="a", repo="b", problem_statement=statement, metadata=place
    )


def command(workspace: str = "sandbox", **options: Any) -> list[str]:
    return configured(**options).build_command(instance(workspace), "/testbed")


def value_of(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


def sample(name: str) -> tuple[str, dict[str, bytes]]:
    stdout = (DATA / name / "stdout.jsonl").read_text(encoding="utf-8")
    records = {f"{SESSION}.jsonl": (DATA / name / "session.jsonl").read_bytes()}
    helper = DATA / name / "helper.jsonl"
    if helper.exists():
        records[f"{SESSION}/subagents/agent-a1.jsonl"] = helper.read_bytes()
    return stdout, records


def read(name: str, **options: Any) -> AgentReport:
    stdout, records = sample(name)
    return configured(**options).read_report(stdout, "", 0, records)


def used(report: AgentReport) -> tuple[int | None, ...]:
    usage = report.usage
    return (
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.turns,
    )


# -- the command line -------------------------------------------------------------


def test_options_reach_the_command_line() -> None:
    words = command(
        model="opus",
        effort="high",
        max_turns=7,
        max_cost_usd=0.5,
        arguments=["--bare"],
    )
    assert value_of(words, "--model") == "opus"
    assert value_of(words, "--effort") == "high"
    assert value_of(words, "--max-turns") == "7"
    assert value_of(words, "--max-budget-usd") == "0.5"
    assert configured(max_cost_usd=0.5).get_cost_limit_usd() == 0.5
    assert configured().get_cost_limit_usd() is None
    assert words[-1] == "--bare"


def test_without_options_it_chooses_for_itself() -> None:
    words = command()
    for option in ("--model", "--effort", "--max-turns", "--max-budget-usd"):
        assert option not in words


@pytest.mark.parametrize(
    ("workspace", "options", "mode", "tools"),
    [
        ("host", {}, "acceptEdits", "Bash,Edit,NotebookEdit,Skill,Write"),
        ("sandbox", {}, "bypassPermissions", None),
        ("docker", {}, "bypassPermissions", None),
        ("host", {"permissions": "bypassPermissions"}, "bypassPermissions", None),
        ("sandbox", {"permissions": "default"}, "default", "Bash,Edit"),
        ("host", {"allowed_tools": []}, "acceptEdits", None),
    ],
)
def test_what_it_may_do_depends_on_where_it_is(
    workspace: str, options: dict[str, Any], mode: str, tools: str | None
) -> None:
    if options.get("permissions") == "default":
        options = {**options, "allowed_tools": ["Bash", "Edit"]}
    words = command(workspace, **options)
    assert value_of(words, "--permission-mode") == mode
    assert ("--allowedTools" in words) == (tools is not None)
    if tools is not None:
        assert value_of(words, "--allowedTools") == tools


def test_the_web_has_to_be_asked_for() -> None:
    assert "WebSearch" in value_of(command(), "--disallowedTools")
    assert "Web" not in value_of(command(web=True), "--disallowedTools")


def test_a_task_is_never_a_command_of_its_own() -> None:
    """``/clear ...`` would be taken for one, and no model would be asked."""
    agent = configured()
    assert agent.build_prompt(instance(statement="/clear it")) == " /clear it"
    assert agent.build_prompt(instance(statement="Fix it.")) == "Fix it."


def test_it_is_told_its_limits_where_that_is_asked_for() -> None:
    agent = configured(tell_limits=True, max_turns=7, max_cost_usd=0.5)
    assert agent.build_prompt(instance()).endswith(
        "- 60 seconds of time\n- 7 turns\n- 0.5 USD\n"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permissions": "plan"}, "'permissions': Input should be 'acceptEdits', "),
        ({"max_turns": 0}, "'max_turns': Input should be greater than or equal to 1"),
        ({"max_cost_usd": 0}, "'max_cost_usd': Input should be greater than 0"),
        ({"max_cost": 1}, "'max_cost' (did you mean 'max_cost_usd'?)"),
        ({"retries": -1}, "'retries': Input should be greater than or equal to 0"),
        ({"effort": "huge"}, "'effort': Input should be 'low', 'medium', "),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentUnavailable) as caught:
        configured(**options)
    assert words in str(caught.value)


# -- its environment and its home --------------------------------------------------


def test_it_is_quiet_and_gives_up_in_time() -> None:
    environment = configured(retries=3).get_environment()
    assert environment["CLAUDE_CODE_MAX_RETRIES"] == "3"
    for name in (
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
    ):
        assert environment[name] == "1"
    assert "ANTHROPIC_BASE_URL" not in environment


def test_another_server_serves_all_that_it_asks() -> None:
    agent = configured(base_url="http://127.0.0.1:8080", model="qwen")
    environment = agent.get_environment()
    assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8080"
    for name in ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL"):
        assert environment[name] == "qwen"
    assert agent.get_endpoints() == ("127.0.0.1:8080",)
    assert configured().get_endpoints() == ("api.anthropic.com:443",)


@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]
)
def test_it_gets_a_key_by_the_name_that_it_knows(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = configured()
    assert "ANTHROPIC_API_KEY or " in agent.probe(agent.get_environment(), shared=False)
    monkeypatch.setenv(name, CANARY)
    assert agent.get_environment()[name] == CANARY
    assert agent.probe(agent.get_environment(), shared=False) == ""


def test_a_key_in_a_variable_of_ones_own_gets_the_name_that_it_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another")
    monkeypatch.setenv("OUR_KEY", CANARY)
    environment = configured(api_key_variable="OUR_KEY").get_environment()
    assert environment["ANTHROPIC_API_KEY"] == CANARY
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", CANARY)
    environment = configured(api_key_variable="ANTHROPIC_AUTH_TOKEN").get_environment()
    assert environment["ANTHROPIC_AUTH_TOKEN"] == CANARY
    assert "ANTHROPIC_API_KEY" not in environment


def test_a_key_of_the_run_file_needs_the_name_that_it_knows() -> None:
    agent = configured(api_key_variable="OUR_KEY")
    given = {**agent.get_environment(), "OUR_KEY": CANARY}
    assert agent.probe(given, shared=False) == (
        "agent 'claude-code': OUR_KEY is given by 'env' of the run file, where it has "
        "to be called ANTHROPIC_API_KEY, without the option 'api_key_variable'"
    )


def test_a_login_stands_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a key beside it, the key would be billed."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    login = tmp_path / ".claude/.credentials.json"
    login.parent.mkdir()
    login.write_text("{}", encoding="utf-8")
    (tmp_path / ".claude/CLAUDE.md").write_text("Be brief.", encoding="utf-8")
    agent = configured(home_files=[".claude/.credentials.json"])
    assert CANARY not in agent.get_environment().values()
    assert agent.get_home_files("/home/agent")[".claude/.credentials.json"] == login
    agent = configured(home_files=[".claude/CLAUDE.md"])
    assert agent.get_environment()["ANTHROPIC_API_KEY"] == CANARY


def test_its_home_says_the_same_each_time_and_holds_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    files = configured().get_home_files("/home/agent")
    assert list(files) == [".claude.json"]
    assert json.loads(str(files[".claude.json"]))["userID"] == "0" * 64
    assert command() == command()
    assert CANARY not in " ".join(command())


# -- what its records say -----------------------------------------------------------


def test_a_run_is_told_whole() -> None:
    report = read("fixed")
    assert used(report) == (4500, 600, 150, 3)
    assert report.usage.cost_usd == pytest.approx(0.014805)
    assert (report.error, report.stopped_by) == ("", "")
    assert report.model == "claude-sonnet-4-5"
    assert report.version == "2.1.197"
    assert report.session_id == "00000000-0000-4000-8000-000000000001"
    assert report.facts is None


def steps_of(report: AgentReport, agent: ClaudeCodeAgent) -> list[dict[str, Any]]:
    trajectory = agent._build_trajectory(report)
    assert trajectory is not None
    steps: list[dict[str, Any]] = json.loads(trajectory.to_json())["steps"]
    return steps


def test_blocks_of_an_answer_are_one_step() -> None:
    user, look, edit, end = steps_of(read("fixed"), configured())
    assert user["message"].startswith("# Fahrenheit values are off")
    assert look["message"] == "Look."
    assert [call["function_name"] for call in edit["tool_calls"]] == ["Edit", "Bash"]
    results = edit["observation"]["results"]
    assert [one["source_call_id"] for one in results] == ["toolu_t1_0", "toolu_t1_1"]
    assert "1 file changed" in results[1]["content"]
    assert edit["metrics"] == {
        "prompt_tokens": 1500,
        "completion_tokens": 50,
        "cached_tokens": 200,
    }
    assert end["message"] == "Fixed."


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("error", "claude-code: API Error: 500 scripted error 500."),
        (
            "retrying",
            "claude-code: the model's server answered with errors (500 server_error), "
            "and it was still trying",
        ),
        (
            "refused",
            "claude-code: its permissions refused Edit (/testbed/thermometer.py); see "
            "the options 'permissions' and 'allowed_tools'",
        ),
    ],
)
def test_what_it_hides_is_an_error(name: str, error: str) -> None:
    report = read(name)
    assert report.error.startswith(error)
    assert report.stopped_by == ""


@pytest.mark.parametrize(("name", "limit"), [("turns", "turns"), ("cost", "cost")])
def test_a_limit_of_its_own_is_no_error(name: str, limit: str) -> None:
    report = read(name)
    assert (report.error, report.stopped_by) == ("", limit)
    assert used(report) == (1500, 200, 50, 1)
    assert report.usage.cost_usd == pytest.approx(0.004935)


def test_what_it_used_is_known_though_it_was_killed() -> None:
    report = read("ended")
    assert used(report) == (1500, 200, 50, 1)
    assert report.usage.cost_usd is None
    assert report.error == ""


def test_a_run_without_an_answer_used_nothing_that_is_known() -> None:
    stdout, _ = sample("ended")
    report = configured().read_report(stdout.split("\n")[0], "", 143, {})
    assert used(report) == (None, None, None, None)
    assert report.version == "2.1.197"


def test_helpers_count_but_their_steps_are_their_own() -> None:
    report = read("helper")
    assert used(report) == (3000, 0, 110, 4)
    said = [step["message"] for step in steps_of(report, configured())]
    assert said[1:] == ["Ask.", "Thanks."]
    # Killed, it has no sums: then its transcripts are added up.
    stdout, records = sample("helper")
    killed = "\n".join(stdout.splitlines()[:-1])
    assert used(configured().read_report(killed, "", 143, records)) == used(report)


def test_its_output_stands_in_for_a_transcript_that_is_gone() -> None:
    stdout, _ = sample("fixed")
    whole = configured().read_report(stdout, "", 0, {})
    assert used(whole) == (4500, 600, 150, 3)
    assert len(steps_of(whole, configured())) == 3
    # How much an answer put out stands in neither where there is no end.
    killed = "\n".join(stdout.splitlines()[:-1])
    report = configured().read_report(killed, "", 143, {})
    assert used(report) == (4500, 600, None, 3)


def test_a_change_that_was_refused_and_then_made_is_no_error() -> None:
    stdout, records = sample("refused")
    denial = json.loads(stdout.splitlines()[-1])
    fixed, records = sample("fixed")
    end = {**json.loads(fixed.splitlines()[-1])}
    end["permission_denials"] = denial["permission_denials"]
    for one in end["permission_denials"]:
        one["tool_input"]["file_path"] = "thermometer.py"
    printed = "\n".join([*fixed.splitlines()[:-1], json.dumps(end)])
    report = configured().read_report(printed, "", 0, records)
    assert report.error == ""
    assert report.facts == {"permission_denials": 1}


def test_a_change_outside_of_the_tree_may_be_refused() -> None:
    stdout, records = sample("fixed")
    end = json.loads(stdout.splitlines()[-1])
    tried = {"tool_name": "Write", "tool_input": {"file_path": "/etc/motd"}}
    end["permission_denials"] = [tried]
    printed = "\n".join([*stdout.splitlines()[:-1], json.dumps(end)])
    report = configured().read_report(printed, "", 0, records)
    assert report.error == ""
    tried["tool_input"] = {"file_path": "/testbed/README.md"}
    end["permission_denials"] = [tried]
    printed = "\n".join([*stdout.splitlines()[:-1], json.dumps(end)])
    report = configured().read_report(printed, "", 0, records)
    assert "refused Write (/testbed/README.md)" in report.error


@pytest.mark.parametrize(
    ("last", "error"),
    [
        ({"attempt": 1, "retry_delay_ms": 500}, ""),
        ({"attempt": 2, "retry_delay_ms": 500}, "(429 rate_limit)"),
        ({"attempt": 1, "retry_delay_ms": 60_000}, "(429 rate_limit)"),
    ],
)
def test_one_error_before_a_slow_answer_is_no_reason(
    last: dict[str, int], error: str
) -> None:
    stdout, records = sample("ended")
    retry = {"type": "system", "subtype": "api_retry", "error": "rate_limit"}
    line = json.dumps({**retry, "error_status": 429, **last})
    report = configured().read_report(f"{stdout}{line}\n", "", 143, records)
    assert error in report.error
    assert bool(report.error) == bool(error)


def test_why_it_did_not_begin_is_told() -> None:
    report = configured().read_report("", "error: unknown option '--efort'\n", 1, {})
    assert report.error == (
        "claude-code did not begin: error: unknown option '--efort'"
    )


@pytest.mark.parametrize(
    ("options", "source", "note"),
    [
        ({"base_url": "http://127.0.0.1:1"}, "ANTHROPIC_API_KEY", "this server's"),
        ({}, "none", "a subscription"),
        ({}, "ANTHROPIC_API_KEY", ""),
    ],
)
def test_what_its_cost_is_worth_is_told(
    options: dict[str, str], source: str, note: str
) -> None:
    stdout, records = sample("fixed")
    stdout = stdout.replace('"ANTHROPIC_API_KEY"', json.dumps(source))
    facts = configured(**options).read_report(stdout, "", 0, records).facts or {}
    assert note in facts.get("cost_note", "")
    assert bool(facts.get("cost_note")) == bool(note)


def test_no_record_is_too_bad(garble: Callable[[bytes], list[bytes]]) -> None:
    """Whatever stands in records, reading them does not fail."""
    agent = configured(base_url="http://127.0.0.1:1")
    for name in ("fixed", "helper", "refused", "error"):
        stdout, records = sample(name)
        for printed in garble(stdout.encode()):
            agent.take_records(records)
            output = agent.parse_output(printed.decode(errors="replace"), "x", 0, 1.0)
            output.to_json()
        path, data = next(iter(records.items()))
        for bad in garble(data):
            agent.take_records({path: bad})
            agent.parse_output("", "", 0, 1.0).to_json()
            if trajectory := agent.get_trajectory():
                trajectory.to_json()
