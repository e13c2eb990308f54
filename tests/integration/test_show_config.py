"""--codegenie-show-config: every setting, its value and its place."""

from __future__ import annotations

import pytest
from integration.sessions import Project
from integration.sessions import assert_no_traceback

from pytest_codegenie.config import RunConfig


def test_it_prints_every_setting_and_runs_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.case()
    project.settings("trials = 4\nlimits = {files = 7}")
    option = project.run_file(workspace="host", docker={"memory": "1g"})
    monkeypatch.setenv("CODEGENIE_LIMITS__MEMORY", "2k")
    result = project.run(option, "--codegenie-keep=always", "--codegenie-show-config")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "workspace: host  * # run.yaml",
            "trials: 4  * # pyproject.toml",
            "timeout: 600.0  * # default",
            "limits:",
            "  memory: 2048  * # environment: CODEGENIE_LIMITS__MEMORY",
            "  files: 7  * # pyproject.toml",
            "docker:",
            "  memory: 1073741824  * # run.yaml",
            "keep: always  * # command line: --codegenie-keep",
        ]
    )
    for key in RunConfig.model_fields:
        assert any(line.startswith(f"{key}:") for line in result.outlines), key
    result.stdout.no_fnmatch_line("*session starts*")
    assert not project.run_directories


def test_it_needs_no_other_option(project: Project) -> None:
    result = project.pytester.runpytest_inprocess("--codegenie-show-config")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["- name: oracle  * # default"])


def test_it_hides_what_an_agent_is_given(project: Project) -> None:
    agent = {
        "name": "command",
        "env": {"SOME_KEY": "canary-one"},
        "options": {"command": ["true"], "token": "canary-two"},
    }
    result = project.run(project.run_file(agents=[agent]), "--codegenie-show-config")
    assert result.ret == 0
    assert "canary" not in result.stdout.str()
    result.stdout.fnmatch_lines(["  env: {SOME_KEY: (set)}"])


def test_a_wrong_setting_is_an_error_here_too(project: Project) -> None:
    result = project.run(project.run_file(trials=0), "--codegenie-show-config")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: run.yaml: trials: *got 0"])
    assert_no_traceback(result)
