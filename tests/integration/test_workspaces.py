"""``--codegenie-workspace``: what is chosen, what is said of it, what if it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback

from pytest_codegenie.workspaces.sandbox import SandboxWorkspace


NO_BUBBLEWRAP = "bubblewrap is not installed (apt-get install bubblewrap)"


@pytest.fixture
def without_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH that has all that the usual one has, but ``bwrap``."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for directory in os.get_exec_path():
        for program in Path(directory).glob("*"):
            if program.name != "bwrap" and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))


@pytest.fixture
def with_bubblewrap() -> None:
    fault = SandboxWorkspace().probe()
    if fault:
        pytest.skip(f"workspace 'sandbox': {fault}")


@pytest.mark.usefixtures("with_bubblewrap")
def test_auto_is_the_sandbox_where_it_works(
    project: Project, plugin_args: list[str]
) -> None:
    project.case(files=RIGHT_IF_MENDED)
    result = project.run_subprocess("--codegenie-workspace=auto", *plugin_args)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["codegenie: agents: oracle; workspace: sandbox (bubblewrap: *"]
    )
    (recorded,) = project.only_run().results
    assert recorded.workspace == "sandbox"


@pytest.mark.usefixtures("without_bubblewrap")
def test_auto_is_the_host_where_the_sandbox_does_not_work_and_says_why(
    project: Project, plugin_args: list[str]
) -> None:
    project.case(files=RIGHT_IF_MENDED)
    result = project.run_subprocess("--codegenie-workspace=auto", *plugin_args)
    result.assert_outcomes(passed=1)
    text = result.stdout.str().replace("\n", " ")
    assert "workspace: host (nothing is isolated: agents run as you" in text
    assert f"no workspace sandbox: {NO_BUBBLEWRAP}" in text
    (recorded,) = project.only_run().results
    assert recorded.workspace == "host"


@pytest.mark.usefixtures("without_bubblewrap")
def test_a_workspace_that_was_asked_for_and_does_not_work_is_an_error(
    project: Project, plugin_args: list[str]
) -> None:
    for case_id in ("first", "second"):
        project.case(case_id, files=RIGHT_IF_MENDED)
    result = project.run_subprocess("--codegenie-workspace=sandbox", *plugin_args)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            f"*workspace: sandbox (does not work here: {NO_BUBBLEWRAP})",
            f"*workspace.error: workspace 'sandbox': {NO_BUBBLEWRAP}*",
        ]
    )
    assert_no_traceback(result)
    assert [r.outcome for r in project.only_run().results] == ["error", "error"]


@pytest.mark.usefixtures("with_bubblewrap")
def test_what_is_open_is_said_in_the_header(project: Project) -> None:
    project.case()
    for name, words in (("host", "nothing is isolated"), ("sandbox", "limits by *")):
        result = project.run_subprocess(f"--codegenie-workspace={name}")
        result.stdout.fnmatch_lines([f"*workspace: {name} (*{words}*"])


@pytest.mark.usefixtures("with_bubblewrap")
def test_a_limit_of_the_settings_ends_an_agent_and_is_named(
    project: Project, plugin_args: list[str]
) -> None:
    project.case(files=RIGHT_IF_MENDED)
    script = "i=0; while :; do i=$((i+1)); : > $HOME/$i; done"
    run_file = project.shell_agent(script, limits={"files": 300})
    arguments = (run_file, "--codegenie-workspace=sandbox", *plugin_args)
    result = project.run_subprocess(*arguments)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*agent.error: *more than 300 files*"])
    assert_no_traceback(result)
