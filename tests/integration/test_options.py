"""--codegenie-* options, the run file, the environment and pyproject.toml."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from integration.sessions import ALWAYS_RIGHT
from integration.sessions import AUTO_WORKSPACE
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import collected
from integration.sessions import node_id

from pytest_codegenie import load_run


def pyproject(project: Project, line: str) -> list[str]:
    project.settings(line)
    return []


def run_file(project: Project, text: str) -> list[str]:
    project.path.joinpath("run.yaml").write_text(text)
    return ["--codegenie-run-file=run.yaml"]


Arrange = Callable[[Project], list[str]]

#: What is given, and what the message has to name: source, key, remedy.
BAD_SETTINGS: dict[str, tuple[Arrange, str]] = {
    "agent": (
        lambda p: ["--codegenie-agent=orcale"],
        "*--codegenie-agent*'orcale'*did you mean 'oracle'?*command,*nop,*oracle*",
    ),
    "agent-twice": (
        lambda p: ["--codegenie-agent=nop", "--codegenie-agent=nop"],
        "*command line: --codegenie-agent: label 'nop' is used by two*nop:another-*",
    ),
    "agent-empty": (
        lambda p: ["--codegenie-agent="],
        "*command line: --codegenie-agent: must be NAME or NAME:label, got ''",
    ),
    "agent-label": (
        lambda p: ["--codegenie-agent=nop:a b"],
        "*command line: *label*'a b'*",
    ),
    "workspace": (
        lambda p: ["--codegenie-workspace=hots"],
        "*--codegenie-workspace*'hots'*did you mean 'host'?*known: *host*",
    ),
    "trials": (
        lambda p: ["--codegenie-trials=0"],
        "*command line: --codegenie-trials: *greater than or equal to 1, got '0'",
    ),
    "timeout": (
        lambda p: ["--codegenie-timeout=soon"],
        "*command line: --codegenie-timeout: *number*, got 'soon'",
    ),
    "timeout-infinite": (
        lambda p: ["--codegenie-timeout=inf"],
        "*command line: --codegenie-timeout: *finite*",
    ),
    "keep": (
        lambda p: ["--codegenie-keep=sometimes"],
        "*command line: --codegenie-keep: *'never', 'failed' or 'always'*",
    ),
    "run-id": (
        lambda p: ["--codegenie-run-id=../up"],
        "*command line: --codegenie-run-id: *'../up'*",
    ),
    "out": (
        lambda p: ["--codegenie-out=pyproject.toml"],
        "*pyproject.toml/runs/*cannot be made: Not a directory*",
    ),
    "no-run-file": (
        lambda p: ["--codegenie-run-file=none.yaml"],
        "*none.yaml: missing*",
    ),
    "run-file-yaml": (
        lambda p: run_file(p, "trials: [\n"),
        "*run.yaml: not usable YAML: *line 2*",
    ),
    "run-file-key": (
        lambda p: run_file(p, "trails: 3\n"),
        "*run.yaml: trails: unknown key (did you mean 'trials'?); known: *",
    ),
    "run-file-agent-key": (
        lambda p: run_file(p, "agents: [{name: nop, option: {}}]\n"),
        "*run.yaml: agents.0.option: unknown key (did you mean 'options'?)*",
    ),
    "reporter": (
        lambda p: ["--codegenie-reporter=markdwon"],
        "*command line: --codegenie-reporter*'markdwon'*did you mean 'markdown'?*",
    ),
    "log-level": (
        lambda p: ["--codegenie-log-level=loud"],
        "*command line: --codegenie-log-level: *'debug', 'info'*, got 'loud'",
    ),
    "no-docker": (
        lambda p: ["--codegenie-workspace=docker", "--codegenie-no-docker"],
        "*command line: --codegenie-workspace: workspace: 'docker' is refused*",
    ),
    "docker-disabled": (
        lambda p: run_file(p, "workspace: docker\ndocker: {enabled: false}\n"),
        "run.yaml: workspace: 'docker' is refused (docker.enabled is false, *",
    ),
    "docker-enabled": (
        lambda p: run_file(p, "docker: {enabled: perhaps}\n"),
        "run.yaml: docker.enabled: must be true or false; *got 'perhaps'",
    ),
    "evaluator": (
        lambda p: run_file(p, "evaluator: {timeout: 3}\n"),
        "run.yaml: evaluator.timeout: unknown key (did you mean 'timeout_seconds'?)*",
    ),
    "agent-timeout": (
        lambda p: run_file(p, "agents: [{name: nop, timeout: 3}]\n"),
        "run.yaml: agents.0.timeout: unknown key (did you mean 'timeout_seconds'?)*",
    ),
    "pyproject-key": (
        lambda p: pyproject(p, "time-out = 3"),
        "*pyproject.toml: tool.codegenie.time*out: unknown key*'timeout'*",
    ),
    "pyproject-value": (
        lambda p: pyproject(p, 'trials = "many"'),
        "*pyproject.toml: tool.codegenie.trials: *integer*, got 'many'",
    ),
}


@pytest.mark.parametrize("what", BAD_SETTINGS)
def test_a_bad_setting_is_a_usage_error_that_names_source_key_and_remedy(
    project: Project, what: str
) -> None:
    arrange, message = BAD_SETTINGS[what]
    project.case()
    result = project.run(*arrange(project))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert_no_traceback(result)
    assert not project.run_directories


def test_a_bad_variable_of_the_environment_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.case()
    monkeypatch.setenv("CODEGENIE_TRIALS", "-2")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: environment: CODEGENIE_TRIALS: *got '-2'"])


@pytest.mark.parametrize("place", ["pyproject", "run file", "environment"])
def test_an_unknown_part_is_blamed_on_no_option_that_was_not_given(
    project: Project, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    project.case()
    arguments = []
    if place == "pyproject":
        project.settings('workspace = "hots"')
    elif place == "run file":
        arguments = run_file(project, "workspace: hots\n")
    else:
        monkeypatch.setenv("CODEGENIE_WORKSPACE", "hots")
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *workspace*'hots'*did you mean 'host'?*"])
    result.stderr.no_fnmatch_line("*--codegenie-workspace*")


def test_the_command_line_goes_before_the_other_places(
    project: Project, monkeypatch: pytest.MonkeyPatch, plugin_args: list[str]
) -> None:
    project.case()
    project.settings('trials = 2\nagent = "oracle"\ntimeout = 7\nkeep = "always"')
    option = project.run_file(agents=[{"name": "nop", "label": "lazy"}], keep="failed")
    monkeypatch.setenv("CODEGENIE_AGENT", "oracle:env,nop:env-too")
    monkeypatch.setenv("CODEGENIE_TIMEOUT", "8")
    result = project.run(
        option, "--codegenie-agent=oracle:mine", "--codegenie-timeout=9", *plugin_args
    )
    result.assert_outcomes(passed=2)
    run = project.only_run()
    config = run.record.config
    assert [agent["label"] for agent in config["agents"]] == ["mine"]
    assert config["trials"] == 2
    assert config["timeout"] == 9
    assert config["keep"] == "failed"
    assert {(r.agent, r.agent_name, r.trial) for r in run.results} == {
        ("mine", "oracle", 1),
        ("mine", "oracle", 2),
    }


def test_the_environment_and_the_run_file_name_agents(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.case()
    option = project.run_file(agent="nop")
    assert collected(project.run("--co", "-q", option)) == [node_id("first", "nop")]
    monkeypatch.setenv("CODEGENIE_AGENT", "oracle,nop:lazy")
    assert collected(project.run("--co", "-q", option)) == [
        node_id("first", "oracle"),
        node_id("first", "lazy"),
    ]


def test_an_agent_of_the_run_file_is_chosen_by_its_label(project: Project) -> None:
    project.case("first", files=RIGHT_IF_MENDED)
    option = project.shell_agent("sed -i 's,9 / 5$,9 / 5 + 32,' thermometer.py")
    result = project.run(option, "--codegenie-agent=command:shell")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"codegenie: agents: shell; workspace: {AUTO_WORKSPACE} (*)"]
    )


def test_a_run_id_is_used_once(project: Project) -> None:
    project.case()
    project.run("--codegenie-run-id=nightly.1").assert_outcomes(passed=1)
    before = (project.run_directories[0] / "results.jsonl").read_bytes()
    result = project.run("--codegenie-run-id=nightly.1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --codegenie-run-id: nightly.1: the run exists, in "
            ".codegenie/runs/nightly.1; choose another id"
        ]
    )
    assert (project.run_directories[0] / "results.jsonl").read_bytes() == before


def test_run_ids_sort_by_time(project: Project) -> None:
    project.case()
    project.run()
    (first,) = project.run_directories
    project.run()
    assert first in project.run_directories
    assert len(project.run_directories) == 2


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("never", []), ("failed", ["fails"]), ("always", ["fails", "ok"])],
)
def test_keep_leaves_workspaces_among_the_artifacts(
    project: Project, keep: str, kept: list[str], tmp_path: Path
) -> None:
    project.case("ok")
    project.case("fails", files={"expected/tests.toml": ALWAYS_WRONG})
    result = project.run(
        project.shell_agent("echo >> README.md"), f"--codegenie-keep={keep}"
    )
    result.assert_outcomes(passed=1, failed=1)
    found = project.run_directories[0].glob("cases/*/shell-t1/workspaces/agent/repo")
    assert sorted(path.parts[-5] for path in found) == kept
    if "fails" in kept:
        result.stdout.fnmatch_lines(["workspace  *cases/fails/shell-t1/workspaces"])


ALWAYS_WRONG = 'framework = "command"\ncommand = "false"\n'


def test_out_says_where_runs_are_stored(
    project: Project, tmp_path: Path, plugin_args: list[str]
) -> None:
    project.case()
    out = tmp_path / "deep" / "down"
    project.run(f"--codegenie-out={out}", *plugin_args).assert_outcomes(passed=1)
    (run,) = (out / "runs").iterdir()
    assert len(load_run(run).results) == 1
    assert out.joinpath(".gitignore").read_text() == "*\n"
    assert not project.path.joinpath(".codegenie").exists()


def test_the_timeout_holds_where_the_case_says_nothing(project: Project) -> None:
    project.case("own", keys={"timeout_seconds": "0.3"})
    result = project.run(project.shell_agent("sleep 60"), "--codegenie-timeout=90")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["agent.timeout: the agent was ended after 0.3 seconds"]
    )


def test_two_runs_at_once_keep_to_themselves(project: Project) -> None:
    project.case("first")
    project.case("second")
    option = project.shell_agent("sleep 0.3; echo >> README.md")
    runs: list[subprocess.Popen[bytes]] = [
        project.start(option, f"--codegenie-run-id=run-{n}") for n in (1, 2)
    ]
    assert [run.wait(60) for run in runs] == [0, 0]
    for number, directory in enumerate(sorted(project.run_directories), 1):
        run = load_run(directory)
        assert run.record.run_id == f"run-{number}"
        assert [(r.run_id, r.outcome) for r in run.results] == [
            (f"run-{number}", "passed")
        ] * 2


def test_an_evaluators_limit_holds_where_the_tests_say_nothing(
    project: Project, plugin_args: list[str]
) -> None:
    sleeps = 'framework = "command"\ncommand = "sleep 60"\n'
    project.case("silent", files={"expected/tests.toml": sleeps})
    project.case("own", files=ALWAYS_RIGHT)
    option = project.run_file(evaluator={"timeout_seconds": 0.3})
    result = project.run(option, "--codegenie-timeout=600", *plugin_args)
    result.assert_outcomes(passed=1, failed=1)
    (silent,) = (r for r in project.only_run().results if r.case_id == "silent")
    assert silent.output is not None
    assert silent.output.evaluation is not None
    assert silent.output.evaluation.status == "timeout"


def test_events_below_the_level_are_left_out_of_the_log(
    project: Project, plugin_args: list[str]
) -> None:
    case_file = project.case() / "case.toml"
    text = case_file.read_text()
    case_file.write_text(re.sub(r"(validated_at = )\S+", r"\g<1>2020-01-01", text))
    project.run("--codegenie-log-level=warning", *plugin_args).assert_outcomes(passed=1)
    assert project.events("case.started") == []
    assert len(project.events("loader.case_stale")) == 1


def test_docker_is_what_auto_takes_where_it_is_enabled(project: Project) -> None:
    project.case()
    option = project.run_file(docker={"enabled": True})
    result = project.run(option, "--collect-only", "-q", "-v")
    result.stdout.fnmatch_lines(["codegenie: agents: oracle; workspace: docker (*)"])
    result = project.run(option, "--codegenie-no-docker", "--collect-only", "-q", "-v")
    result.stdout.fnmatch_lines([f"codegenie: *; workspace: {AUTO_WORKSPACE} (*)"])
