"""The agents that ship, each as a case is run with it."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support import FIX
from support import Bench

from pytest_codegenie.agents import LimitsCost
from pytest_codegenie.agents import TellsUsage
from pytest_codegenie.agents.command import CommandAgent
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import CaseResult


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture(autouse=True)
def one_case(bench: Bench, working_directory: None) -> None:
    bench.case(files={"input/hints.md": "Look at the offset.\n"})


def end(result: CaseResult) -> tuple[str, str]:
    codes = [mode.code for mode in result.score.failure_modes]
    return result.outcome, codes[0] if codes else ""


def agent_output(result: CaseResult) -> AgentOutput:
    assert result.output is not None
    return result.output.agent


# -- command: what it is started with --------------------------------------------


def test_places_in_the_arguments_are_filled_in(bench: Bench) -> None:
    """The prompt comes last, so that nothing in it is taken for a place."""
    bench.case("other", files={"input/problem.md": "Use {workspace} and {problem}."})
    script = 'printf "%s|" "$@"; pwd; cat "$2"'
    options = {
        "command": ["sh", "-c", script, "-", "{workspace}/x", "{problem}", "{prompt}"]
    }
    result = bench.run("other", agent="command", options=options)
    told = "Use {workspace} and {problem}."
    workspace, problem, prompt, rest = agent_output(result).stdout.split("|")
    assert prompt == told
    assert rest == f"{workspace.removesuffix('/x')}\n{told}"
    assert Path(problem).name == "problem.md"


@pytest.mark.parametrize(
    ("prompt", "stdin"), [("stdin", True), ("file", False), (None, True)]
)
def test_the_prompt_with_its_hints_is_on_stdin_or_in_the_file(
    bench: Bench, prompt: str | None, stdin: bool
) -> None:
    options: dict[str, Any] = {
        "command": ["sh", "-c", 'cat; echo "|"; cat "$0"', "{problem}"]
    }
    if prompt:
        options["prompt"] = prompt
    on_stdin, in_file = agent_output(
        bench.run(agent="command", options=options)
    ).stdout.split("|\n")
    assert in_file.startswith("# Fahrenheit values are off")
    assert in_file.endswith("Look at the offset.\n")
    assert on_stdin == (in_file + "" if stdin else "")


def test_a_command_may_be_one_string(bench: Bench) -> None:
    options = {"command": shlex.join(["sh", "-c", FIX])}
    assert bench.run(agent="command", options=options).outcome == "passed"


def test_a_relative_program_is_found_where_pytest_was_started(bench: Bench) -> None:
    program = Path("my-agent")
    program.write_text(f"#!/bin/sh\n{FIX}\n", encoding="utf-8")
    program.chmod(0o755)
    result = bench.run(agent="command", options={"command": ["./my-agent"]})
    assert result.outcome == "passed", result.message


def test_the_run_file_adds_to_the_environment_and_unsets(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDED", "before")
    monkeypatch.setenv("UNSET", "before")
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    result = bench.run_shell("env", env={"ADDED": "after", "UNSET": "", "NEW": "1"})
    lines = agent_output(result).stdout.splitlines()
    assert "ADDED=after" in lines
    assert "NEW=1" in lines
    assert not [line for line in lines if line.startswith(("UNSET", "PYTEST_"))]


def test_listed_variables_are_inherited(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "secret")
    monkeypatch.setenv("OTHER_KEY", "secret")
    options = {"command": ["env"], "inherit": ["MODEL_KEY"]}
    result = bench.run(agent="command", options=options, workspace="sandbox")
    lines = agent_output(result).stdout.splitlines()
    assert "MODEL_KEY=secret" in lines
    assert not [line for line in lines if line.startswith("OTHER_KEY")]


def test_its_program_and_what_it_lists_is_what_it_asks_of_a_workspace(
    tmp_path: Path,
) -> None:
    here = tmp_path / "here"
    for name in ("my-agent", "plan.py"):
        (here / name).touch()
    agent = CommandAgent()
    agent.configure(
        {
            "command": f"./my-agent {here}/plan.py {here} /nowhere -v",
            "network": ["api.example.org:443"],
            "readable": ["lib", "/opt"],
        }
    )
    assert agent.get_endpoints() == ("api.example.org:443",)
    assert agent.get_readable() == (
        *(here / "my-agent", here / "plan.py"),
        *(here / "lib", Path("/opt")),
    )


OPTIONS = [
    ({}, "must be a program and its arguments, got None; set it in the run file"),
    ({"command": []}, r"must be a program and its arguments, got \[\]"),
    ({"command": ["x", 1]}, r"got \['x', 1\]"),
    ({"command": "  "}, "got '  '"),
    ({"command": ["", "x"]}, "must be a program"),
    ({"command": "echo 'x"}, "the option 'command': No closing quotation"),
    (
        {"command": "x", "prompt": "both"},
        "'prompt' must be 'stdin' or 'file', got 'both'",
    ),
    (
        {"command": "x", "execution_mode": "vm"},
        "must be 'container' or 'host', got 'vm'",
    ),
    ({"command": "x", "network": "a:1"}, "'network' must be a list of strings, got"),
    ({"command": "x", "readable": [1]}, r"'readable' must be a list of strings, got"),
    (
        {"command": "x", "inherit": ["PATH", "NOT_SET_ANYWHERE"]},
        "'inherit' names NOT_SET_ANYWHERE, which is not set",
    ),
    ({"command": "x", "tells_usage": "yes"}, "'tells_usage' must be true or false"),
    *(
        ({"command": "x", "max_cost_usd": wrong}, "must be a number of dollars above 0")
        for wrong in (0, -1, "2", True, math.nan, math.inf)
    ),
    ({"comand": "x"}, r"unknown option 'comand' \(did you mean 'command'\?\); known: "),
]


@pytest.mark.parametrize(("options", "words"), OPTIONS)
def test_a_wrong_option_of_a_command_is_said(
    bench: Bench, options: dict[str, Any], words: str
) -> None:
    result = bench.run(agent="command", options=options)
    assert end(result) == ("error", "agent.unavailable")
    assert re.search(words, result.message), result.message


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            "no-such-agent",
            "No such file or directory; install it or correct the command",
        ),
        ("./here", "Permission denied; make it executable"),
        ("./plain", "Permission denied; make it executable"),
    ],
)
def test_a_program_that_cannot_be_started_is_unavailable(
    bench: Bench, program: str, words: str
) -> None:
    Path("plain").write_text("x", encoding="utf-8")
    Path("here").mkdir()
    result = bench.run(agent="command", options={"command": [program]})
    assert end(result) == ("error", "agent.unavailable")
    assert words in result.message
    assert program.removeprefix("./") in result.message


# -- command: what it leaves -----------------------------------------------------


def test_an_exit_code_without_a_change_is_an_error(bench: Bench) -> None:
    result = bench.run_shell("echo 'no API key' >&2; exit 3")
    assert end(result) == ("error", "agent.error")
    assert result.message == (
        "the agent ended with exit code 3 and changed nothing: no API key"
    )
    assert agent_output(result).stderr == "no API key\n"


def test_an_exit_code_without_a_word_is_said_so(bench: Bench) -> None:
    result = bench.run_shell("kill -9 $$")
    assert result.message == (
        "the agent ended with exit code -9 and changed nothing: it printed nothing"
    )


def test_a_change_is_judged_whatever_the_exit_code(bench: Bench) -> None:
    result = bench.run_shell(f"{FIX}; exit 3")
    assert end(result) == ("passed", "")
    assert agent_output(result).exit_code == 3


def test_binary_output_is_recorded_as_text(bench: Bench) -> None:
    result = bench.run_shell(f"printf 'a\\000\\377\\n'; {FIX}")
    assert agent_output(result).stdout == "a\0\ufffd\n"
    assert CaseResult.from_json(result.to_json()) == result


def test_a_gigabyte_of_output_costs_a_log_of_ten_megabytes(
    bench: Bench, tmp_path: Path
) -> None:
    result = bench.run_shell(
        f"head -c 1G /dev/zero | tr '\\0' x; {FIX}",
        run_directory=tmp_path / "run",
        artifacts_path="a",
    )
    assert result.outcome == "passed"
    assert (tmp_path / "run/a/agent.log").stat().st_size == 10 << 20
    assert "bytes left out" in agent_output(result).stdout
    assert len(agent_output(result).stdout) < 100_000


def test_what_an_agent_leaves_running_is_ended_and_noted(
    bench: Bench, tmp_path: Path
) -> None:
    result = bench.run_shell(f"sleep 60 & echo $! > {tmp_path}/pid; {FIX}")
    assert agent_output(result).metadata["processes_left"] >= 1
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def used(*lines: str, tells_usage: bool = True) -> tuple[object, object, object]:
    agent = CommandAgent()
    agent.configure({"command": "x", "tells_usage": tells_usage})
    output = agent.parse_output("\n".join(lines), "", 0, 1.0)
    usage = agent.read_usage("\n".join(lines), {})
    assert (usage.cost_usd, usage.tokens) == (output.cost_usd, output.tokens_used)
    return output.cost_usd, output.tokens_used, output.model_name


def test_a_command_may_tell_what_it_used() -> None:
    assert used('{"cost_usd": 0.25, "tokens": 1200, "model": "m"}') == (0.25, 1200, "m")
    assert used("hello", '{"cost_usd": 1}', "{}", '{"cost_usd": 2}', "bye") == (
        *(2.0, None, None),
    )
    assert used('{"cost_usd": 1, "tokens": 5}', '{"cost_usd": 2}')[:2] == (2.0, 5)
    assert used('{"cost_usd": 1}', '{"cost_') == (1.0, None, None)


@pytest.mark.parametrize(
    "wrong", ["-1", "NaN", "Infinity", '"2"', "true", "null", "[]"]
)
def test_a_cost_that_is_none_is_unknown(wrong: str) -> None:
    assert used(f'{{"cost_usd": {wrong}, "tokens": {wrong}}}') == (None, None, None)


def test_a_command_that_was_not_said_to_tell_tells_nothing() -> None:
    assert used('{"cost_usd": 1}', tells_usage=False) == (None, None, None)


def test_what_agents_cost_at_most_by_their_own_limits() -> None:
    agent = CommandAgent()
    agent.configure({"command": "x"})
    assert agent.get_cost_limit_usd() is None
    agent.configure({"command": "x", "max_cost_usd": 2})
    assert agent.get_cost_limit_usd() == 2.0
    assert isinstance(agent, LimitsCost)
    assert isinstance(agent, TellsUsage)


# -- oracle and nop --------------------------------------------------------------


@pytest.mark.parametrize("name", ["oracle", "nop"])
def test_oracle_and_nop_have_no_options(bench: Bench, name: str) -> None:
    result = bench.run(agent=name, options={"model": "x"})
    assert end(result) == ("error", "agent.unavailable")
    assert result.message == f"agent {name!r}: unknown option 'model'; known: none"


def test_the_oracle_of_a_case_without_a_gold_patch_changes_nothing(
    bench: Bench,
) -> None:
    bench.case("quiet", disposition="negative")
    result = bench.run("quiet")
    assert end(result) == ("passed", "")
    assert result.output is not None
    assert result.output.patch == ""


# -- predictions -----------------------------------------------------------------


def predict(bench: Bench, text: str | bytes) -> CaseResult:
    Path("preds.jsonl").write_bytes(text.encode() if isinstance(text, str) else text)
    return bench.run(agent="predictions", options={"path": "preds.jsonl"})


def line(**changes: Any) -> str:
    values = {"instance_id": "first", "model_name_or_path": "m-1", "model_patch": ""}
    return json.dumps(values | changes) + "\n"


def test_a_prediction_is_judged_and_its_model_is_noted(bench: Bench) -> None:
    patch = (bench.cases_dir / "first/expected/gold.patch").read_text(encoding="utf-8")
    other = line(instance_id="other")
    result = predict(bench, f"{other}\n  \n{line(model_patch=patch, more=1)}")
    assert end(result) == ("passed", "")
    assert agent_output(result).model_name == "m-1"


@pytest.mark.parametrize("patch", [None, "", " \n"])
def test_an_empty_prediction_is_no_change(bench: Bench, patch: str | None) -> None:
    assert end(predict(bench, line(model_patch=patch))) == ("failed", "agent.no_patch")


def test_a_prediction_needs_no_model_and_may_end_its_lines_as_windows_does(
    bench: Bench,
) -> None:
    text = line(model_name_or_path=None).replace("\n", "\r\n")
    assert end(predict(bench, text)) == ("failed", "agent.no_patch")


MALFORMED: dict[str, tuple[str | bytes, str]] = {
    "not JSON": (
        line() + "{",
        "preds.jsonl, line 2: not JSON: Expecting property name",
    ),
    "byte order mark": (
        b"\xef\xbb\xbf" + line().encode(),
        "line 1: not JSON: Unexpected",
    ),
    "nested too deeply": ("[" * 100_000, "line 1: not JSON: maximum recursion"),
    "number too long": ("1" * 5000, "line 1: not JSON: Exceeds the limit"),
    "not UTF-8": (b"\xff\n", "preds.jsonl cannot be read: 'utf-8' codec can't decode"),
    "no object": ("[]", "line 1: must be an object"),
    "no id": ('{"model_patch": ""}', "line 1: 'instance_id' is missing"),
    "no patch": ('{"instance_id": "first"}', "line 1: 'model_patch' is missing"),
    "id of a kind": (line(instance_id=1), "'instance_id' must be a string, got 1"),
    "id null": (line(instance_id=None), "'instance_id' must be a string, got None"),
    "patch of a kind": (line(model_patch=["x"]), "'model_patch' must be a string"),
    "model of a kind": (line(model_name_or_path=7), "'model_name_or_path' must be a"),
    "half a character": (line(model_patch="\ud800"), "'model_patch' holds half of"),
    "twice": (line() + line(), "line 2: a second prediction for 'first'; keep one"),
    "another case": (
        line(instance_id="other"),
        r"preds.jsonl has no prediction for 'first' \(1 others\)",
    ),
    "empty": ("", r"preds.jsonl has no prediction for 'first' \(0 others\)"),
}


@pytest.mark.parametrize(("text", "words"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_prediction_is_named_by_its_line(
    bench: Bench, text: str | bytes, words: str
) -> None:
    result = predict(bench, text)
    assert end(result) == ("error", "agent.unavailable")
    assert re.search(words, result.message), result.message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "the option 'path' must name a JSONL file"),
        ({"path": 1}, "the option 'path' must name a JSONL file"),
        ({"path": "none.jsonl"}, "none.jsonl cannot be read: No such file"),
        ({"path": "."}, ". cannot be read: "),
    ],
)
def test_a_file_of_predictions_that_is_missing_is_said(
    bench: Bench, options: dict[str, Any], words: str
) -> None:
    result = bench.run(agent="predictions", options=options)
    assert end(result) == ("error", "agent.unavailable")
    assert words in result.message


@pytest.mark.parametrize(
    "text",
    [
        f"[{line()}]",
        f'{{"x": {line(instance_id="other")}, "y": {line()}}}',
        '{"first": {"model_patch": null}}',
        line(),
    ],
    ids=["list", "object", "by id alone", "one"],
)
def test_predictions_come_as_json_too(bench: Bench, text: str) -> None:
    Path("preds.json").write_text(text, encoding="utf-8")
    result = bench.run(agent="predictions", options={"path": "preds.json"})
    assert end(result) == ("failed", "agent.no_patch")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (line() + line(), "preds.json: not JSON: Extra data"),
        ("3", "preds.json: must be a list of predictions, or an object of them by id"),
        (f"[{line()}, 3]", "preds.json, item 2: must be an object"),
        ('{"first": 3}', "preds.json, key 'first': must be an object"),
        (f"[{line()}, {line()}]", "item 2: a second prediction for 'first'"),
    ],
)
def test_malformed_json_of_predictions_is_named_by_its_place(
    bench: Bench, text: str, words: str
) -> None:
    Path("preds.json").write_text(text, encoding="utf-8")
    result = bench.run(agent="predictions", options={"path": "preds.json"})
    assert end(result) == ("error", "agent.unavailable")
    assert words in result.message


def test_predictions_that_changed_are_read_again(bench: Bench) -> None:
    assert end(predict(bench, line(instance_id="other")))[0] == "error"
    os.utime("preds.jsonl", (1, 1))
    assert end(predict(bench, line()))[0] == "failed"
