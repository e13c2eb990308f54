"""``codegenie build --dry-run``: what a build would do, and what is missing for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.agents import InstalledAgent
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.cli.tables import table
from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner
from pytest_codegenie.harness.foundry.instructions import thresholds_of
from pytest_codegenie.harness.foundry.state_registry import StateRegistry
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part


def rehearse(runner: HarnessRunner) -> int:
    """Show what would be done; return 1 where something is missing for it."""
    project, settings = runner.project, runner.settings
    registry = StateRegistry(project.path)
    registry.load()
    completed = [] if settings.from_scratch else registry.state.completed
    for line in table(
        ("prompt", "title", "state", "retries", "coverage", "pylint"),
        [
            _planned(runner, prompt, completed)
            for prompt in project.prompts
            if prompt["id"] in runner.prompt_ids
        ],
        right=("retries", "coverage", "pylint"),
    ):
        say(line)
    names = [gate.name for gate in runner.gate.gates]
    say(f"gates: {', '.join(['tests', 'coverage', 'pylint', *names])}")
    limits = runner.limits
    cap = "" if limits.max_cost_usd is None else f", {limits.max_cost_usd:g} USD"
    say(f"limits: {limits.max_iterations} tries of all prompts{cap}")
    faults = list(_faults(runner))
    for fault in faults:
        complain(fault)
    return 1 if faults else 0


def _planned(
    runner: HarnessRunner, prompt: Mapping[str, Any], completed: list[str]
) -> tuple[str, ...]:
    wanted = thresholds_of(runner.project, prompt)
    return (
        prompt["id"],
        prompt["metadata"].get("title", ""),
        "complete" if prompt["id"] in completed else "to do",
        str(runner.allowance.retries_of(prompt)),
        f"{wanted.coverage:g}",
        f"{wanted.pylint:g}",
    )


def _faults(runner: HarnessRunner) -> Iterator[str]:
    """Yield what would keep a build from its first try, as far as it can be told."""
    spec = runner.settings.agent
    assert spec is not None, "the command has chosen one"
    try:
        agent = make_part("agent", spec.name, runner.surroundings.parts.agents)
        agent.configure(spec.options)
    except (UnknownPartError, AgentUnavailable) as exc:
        yield str(exc)
        return
    workspace = make_part(
        "workspace",
        runner.surroundings.workspace,
        runner.surroundings.parts.workspaces,
    )
    if isinstance(agent, InstalledAgent):
        environment = {**os.environ, **agent.get_environment(), **spec.env}
        if fault := agent.probe(environment, shared=workspace.shares_programs):
            yield fault
    if not runner.settings.from_scratch:
        yield from _changed(runner)


def _changed(runner: HarnessRunner) -> Iterator[str]:
    known = runner.registry.state.documents
    found = runner.project.digests()
    for name in known:
        if found[name] != known[name]:
            yield (
                f"{relative(runner.project.path / name)} changed since the build "
                "began: put it back, or begin again (--from-scratch)"
            )
