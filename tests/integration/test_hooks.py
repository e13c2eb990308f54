"""Parts that a conftest.py or another plugin brings, by our hooks."""

from __future__ import annotations

from pathlib import Path

import offline_workspace
import pytest
from integration.sessions import RIGHT_IF_MENDED
from integration.sessions import Project
from integration.sessions import assert_no_traceback
from integration.sessions import node_id
from offline_workspace import OfflineWorkspace
from support import FIX


PARTS = '''
"""Parts of somebody else's."""
import time

from pytest_codegenie.models import AgentOutput
from pytest_codegenie.workspaces.host import HostWorkspace


class Painter:
    """Answers with the gold patch, which it may see."""

    name = "painter"
    deterministic = True
    sees_answers = True

    def configure(self, options):
        pass

    def version(self):
        return "1"

    def find_patch(self, instance):
        return AgentOutput(
            instance_id=instance.instance_id,
            agent_name=self.name,
            patch=instance.gold_patch,
            cost_usd=0.25,
            tokens_used=1200,
            model_name="paint-1",
        )


class Sleeper(Painter):
    name = "sleeper"

    def find_patch(self, instance):
        time.sleep(0 if instance.instance_id == "quick" else 60)
        return super().find_patch(instance)


class Attic(HostWorkspace):
    name = "attic"
    isolation = "dust"


class Slow(HostWorkspace):
    def prepare(self, base, directory):
        time.sleep(60)


def broken():
    raise RuntimeError("this part was not made")
'''

CONFTEST = """
def pytest_codegenie_agents():
    return {"painter": "parts:Painter", "sleeper": "parts:Sleeper"}

def pytest_codegenie_workspaces():
    return {"attic": "parts:Attic", "slow": "parts:Slow", "gone": "parts:Gone",
            "broken": "parts:broken"}
"""


@pytest.fixture
def project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    project.path.joinpath("parts.py").write_text(PARTS)
    project.path.joinpath("conftest.py").write_text(CONFTEST)
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    return project


def test_an_agent_and_a_workspace_of_a_conftest_are_used(
    project: Project, plugin_args: list[str]
) -> None:
    project.case("first", files=RIGHT_IF_MENDED)
    result = project.run_subprocess(
        "--codegenie-agent=painter",
        "--codegenie-workspace=attic",
        "--junitxml=out.xml",
        *plugin_args,
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "codegenie: agents: painter; workspace: attic (dust)",
            "  cost     0.2500 USD as reported by the agent; time *",
        ]
    )
    text = project.path.joinpath("out.xml").read_text()
    for name, value in (("cost_usd", "0.25"), ("tokens", "1200"), ("model", "paint-1")):
        assert f'<property name="{name}" value="{value}" />' in text
    (recorded,) = project.only_run().results
    assert recorded.workspace == "attic"


def test_a_workspace_that_runs_programs_in_its_own_way_is_used(
    project: Project, plugin_args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = OfflineWorkspace().probe()
    if fault:
        pytest.skip(f"workspace 'offline': {fault}")
    monkeypatch.setenv("PYTHONPATH", str(Path(offline_workspace.__file__).parent))
    project.path.joinpath("conftest.py").write_text(
        "def pytest_codegenie_workspaces():\n"
        '    return {"offline": "offline_workspace:OfflineWorkspace"}\n'
    )
    project.case("first", files=RIGHT_IF_MENDED)
    # It mends the code only where there is no network but a loopback that is down.
    script = f"[ $(grep -c : /proc/net/dev) = 1 ] && {FIX}"
    run_file = project.shell_agent(script, workspace="offline")
    result = project.run_subprocess(run_file, *plugin_args)
    result.assert_outcomes(passed=1)
    (recorded,) = project.only_run().results
    assert recorded.workspace == "offline"


@pytest.mark.parametrize("part", ["agent", "workspace"])
def test_a_hung_harness_is_an_error_of_its_item_and_the_session_goes_on(
    project: Project, plugin_args: list[str], part: str
) -> None:
    for case_id, limit in (("hangs", 0.2), ("quick", 0.2 if part != "agent" else 60)):
        keys = {"timeout_seconds": limit, "rubric_wall_clock_seconds": limit}
        project.case(case_id, keys=keys)
    project.settings("timeout_margin = 0.2")
    arguments = ["--codegenie-agent=sleeper"]
    if part == "workspace":
        # It hangs for all; the session ends nevertheless, and in order.
        arguments = ["--codegenie-workspace=slow"]
    result = project.run_subprocess(*arguments, *plugin_args)
    hung = 1 if part == "agent" else 2
    result.assert_outcomes(errors=hung, passed=2 - hung)
    result.stdout.fnmatch_lines(
        ["workspace.error: the harness did not end: *Timeout*0.8*s*"]
    )
    assert_no_traceback(result)
    outcomes = [r.outcome for r in project.only_run().results]
    assert outcomes.count("error") == hung
    assert len(outcomes) == 2


@pytest.mark.parametrize(
    ("workspace", "message"),
    [
        ("gone", "*workspace 'gone' is registered as 'parts:Gone', which cannot be*"),
        ("broken", "*this part was not made*"),
    ],
)
def test_a_workspace_that_cannot_be_made_is_a_usage_error(
    project: Project, workspace: str, message: str
) -> None:
    project.case()
    result = project.run_subprocess(f"--codegenie-workspace={workspace}")
    assert "INTERNALERROR" not in result.stdout.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert_no_traceback(result)


def test_a_name_that_two_plugins_give_is_a_usage_error(project: Project) -> None:
    project.case()
    project.path.joinpath("more.py").write_text(
        'def pytest_codegenie_agents():\n    return {"painter": "other:Painter"}\n'
    )
    result = project.run_subprocess("-p", "more")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: plugins: agent 'painter': is given twice, as *'parts:Painter'*; "
            "disable one of the plugins with -p no:NAME"
        ]
    )
    assert project.run_subprocess("-p", "no:more", "--co", "-q").ret == 0


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            '{"x": "no-colon"}',
            "must be given as 'package.module:attribute', got 'no-c*",
        ),
        ('{"x": object}', "must be given as 'package.module:attribute', got <class*"),
        ('["x"]', "must be a mapping of names to 'package.module:attribute', got *"),
    ],
)
def test_a_hook_that_gives_no_table_is_a_usage_error(
    project: Project, returned: str, message: str
) -> None:
    project.case()
    project.path.joinpath("conftest.py").write_text(
        f"def pytest_codegenie_evaluators():\n    return {returned}\n"
    )
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: plugins: evaluator*: {message}"])
    assert_no_traceback(result)


def test_list_and_a_session_know_the_same_parts(project: Project) -> None:
    listed = project.command("list", "agents")
    assert listed.returncode == 0, listed.stderr
    lines = [line.split() for line in listed.stdout.splitlines()]
    assert ["painter", "parts:Painter"] in lines
    assert ["oracle", "pytest_codegenie.agents.oracle:OracleAgent"] in lines
    project.case("first")
    result = project.run("--co", "-q", "--codegenie-agent=painter")
    result.stdout.fnmatch_lines([node_id("first", "painter").replace("[", "[[]")])
