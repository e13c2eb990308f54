"""A session with an agent that people install, from its run file to its reports."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from integration.sessions import Project
from integration.sessions import properties
from model_server import ModelServer
from real_agents import CANARY
from real_agents.describing import Edit
from real_agents.pi import PI


EDIT = Edit("thermometer.py", "9 / 5\n", "9 / 5 + 32\n")


def test_a_run_with_an_installed_agent(
    project: Project, plugin_args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is, what it did and what that took are in all that a run leaves."""
    program = str(PI.path())
    monkeypatch.setenv(PI.key_variable, CANARY)
    for case_id in ("one", "two"):
        project.case(case_id, files={})
    with ModelServer(PI.fix(EDIT)) as server:
        options = {"program": program, **PI.options(server)}
        run_file = project.run_file(agents=[{"name": "pi", "options": options}])
        planned = project.command("run", "-c", "run.yaml", "--dry-run")
        assert "pi: can be started, version 0.73.1" in planned.stdout
        assert server.requests == []
        result = project.run(run_file, "--junitxml=out.xml", *plugin_args)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*cost     0.0225 USD as reported by the agent*"])
    run = project.only_run()
    assert run.record.versions["agent pi"] == "0.73.1"
    told = properties(next(ET.parse("out.xml").getroot().iter("testcase")))
    assert (told["agent"], told["model"], told["tokens"]) == ("pi", "fake", "3150")
    for case_id in ("one", "two"):
        place = run.directory / "cases" / case_id / "pi-t1"
        trajectory = json.loads((place / "trajectory.json").read_text("utf-8"))
        assert [step["source"] for step in trajectory["steps"]] == ["user"] + 3 * [
            "agent"
        ]


def test_an_agent_that_is_not_installed_is_an_error_that_says_how_to_get_it(
    project: Project, plugin_args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    project.case()
    run_file = project.run_file(
        agents=[{"name": "pi", "options": {"program": "pi-that-is-nowhere"}}]
    )
    result = project.run(run_file, *plugin_args)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "agent.unavailable: agent 'pi': 'pi-that-is-nowhere' is not installed on "
            "this machine; install it: npm install -g @mariozechner/pi-coding-agent*"
        ]
    )
