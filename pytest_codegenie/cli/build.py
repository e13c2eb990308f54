"""``codegenie build``: a program from a foundry project's prompts."""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from pytest_codegenie.cli.build_dry_run import rehearse
from pytest_codegenie.cli.build_progress import BuildProgress
from pytest_codegenie.cli.build_status import show_status
from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.config import load_config
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.allowance import Allowance
from pytest_codegenie.harness.foundry.build_settings import BuildSettings
from pytest_codegenie.harness.foundry.build_settings import agent_of
from pytest_codegenie.harness.foundry.harness_runner import HarnessRunner
from pytest_codegenie.harness.foundry.history import History
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.project import open_project
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.rooms import Surroundings
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.installed import installed_parts
from pytest_codegenie.session.scratch import Scratch
from pytest_codegenie.session.scratch import sweep
from pytest_codegenie.session.settings import choose_workspace


_STATUS = "status"


def add_command(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "build",
        help=summary,
        description="Build the program of a foundry project: one prompt after the "
        "other, each held to the project's rules and gates. A build that was stopped, "
        "or killed, goes on where it was. Exit code 0 (complete), 1 (the agent or the "
        "environment does not work), 7 (cost), 11 (a prompt's retries), 12 (tries of "
        "all), 13 (a rule was broken that ends the build).",
        usage="codegenie build [PATH] [options]\n       codegenie build status [PATH]",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="PATH",
        help="the project (default: the working directory); with the word 'status' "
        "before it, show how far it is",
    )
    parser.add_argument("--agent", "-a", metavar="NAME", help="who writes the program")
    parser.add_argument(
        "--until", metavar="P-004", help="the last prompt that is worked on"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check and show what would be done"
    )
    parser.add_argument(
        "--max-retries", type=_count, metavar="N", help="of each prompt"
    )
    parser.add_argument(
        "--max-iterations", type=_positive, metavar="N", help="tries of all together"
    )
    parser.add_argument(
        "--max-cost-usd", type=_cost, metavar="USD", help="what the agent may cost"
    )
    parser.add_argument(
        "--workspace", metavar="NAME", help="where agent and gates run (default: auto)"
    )
    parser.add_argument(
        "--from-scratch",
        action="store_true",
        help="put src/ and tests/ back to what they were at first, and begin again",
    )
    parser.add_argument(
        "--undo", metavar="P-003", help="take back a step, and all after it; then stop"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=run)


def _count(word: str) -> int:
    number = int(word)
    if number < 0:
        raise ValueError
    return number


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ValueError
    return number


def _cost(word: str) -> float:
    number = float(word)
    if not 0 < number < math.inf:
        raise ValueError
    return number


def run(options: argparse.Namespace) -> int:
    """Build, or show how far the project is."""
    path, wants_status = _read_words(options.words)
    if wants_status:
        return show_status(open_project(path))
    project = open_project(path)
    surroundings = _surroundings(project, options.workspace)
    settings = BuildSettings(
        agent=_agent(project, options.agent),
        max_retries=options.max_retries,
        max_iterations=options.max_iterations,
        max_cost_usd=options.max_cost_usd,
        until=options.until,
        from_scratch=options.from_scratch,
    )
    if options.dry_run:
        return rehearse(HarnessRunner(path, settings, surroundings=surroundings))
    _ask(options, project)
    if options.undo:
        runner = HarnessRunner(path, settings, surroundings=surroundings)
        undone = runner.undo(options.undo)
        say(f"undone: {', '.join(undone)}; what they made stays in the build history")
        return 0
    return _build(project, settings, surroundings)


def _read_words(words: list[str]) -> tuple[Path, bool]:
    """Return the project, and whether its status is asked for."""
    others = [word for word in words if word != _STATUS]
    if len(others) > 1 or len(words) - len(others) > 1:
        raise UsageFault(
            f"one project at a time, got {' '.join(words)}; as in: codegenie build "
            "PATH, or codegenie build status PATH"
        )
    return Path(others[0] if others else "."), len(words) > len(others)


def _surroundings(project: Project, workspace: str | None) -> Surroundings:
    """Return what the build runs in: as the user's configuration has it.

    Raises:
        ConfigError: That is wrong, or there is no such workspace.
    """
    config = load_config(
        options={}, environment=os.environ, pyproject=Path("pyproject.toml")
    )
    # An agent may have written the conftest.py of the project's tests.
    parts = installed_parts(conftests=False)
    source = "harness.yaml" if workspace is None else "--workspace"
    wanted = workspace or project.harness.workspace
    return Surroundings(
        parts=parts,
        workspace=choose_workspace(
            wanted, parts.workspaces, source, docker_enabled=config.docker.enabled
        ),
        limits=config.limits,
        sandbox=config.sandbox,
        docker=config.docker,
        setup_seconds=config.setup_timeout,
        cache=Path(config.out, "cache").absolute(),
        secret_names=config.secrets,
    )


def _agent(project: Project, name: str | None) -> AgentSpec:
    """Return who works: as ``--agent`` says, with the options that are there for it."""
    own = project.harness.agent
    if name is None or (own is not None and own.name == name):
        return agent_of(project)
    return AgentSpec(name=name, label=name)


def _ask(options: argparse.Namespace, project: Project) -> None:
    """Ask before anything of the project's is taken back.

    Raises:
        UsageFault: The answer is no, or nobody can be asked.
    """
    if options.yes or not (options.from_scratch or options.undo):
        return
    what = (
        "back to the start" if options.from_scratch else f"back before {options.undo}"
    )
    if not sys.stdin.isatty():
        raise UsageFault(
            f"src/ and tests/ would go {what}, and nobody can be asked here; say so "
            "with --yes"
        )
    place = relative(project.path)
    words = f"{place}: src/ and tests/ go {what} (git has them still). Go on? [y/N] "
    if input(words).strip().lower() not in ("y", "yes"):
        raise UsageFault("nothing was done")


def _build(
    project: Project, settings: BuildSettings, surroundings: Surroundings
) -> int:
    workspace = make_part(
        "workspace", surroundings.workspace, surroundings.parts.workspaces
    )
    sweep(workspace)
    scratch = Scratch("build")
    try:
        surroundings = dataclasses.replace(surroundings, scratch_root=scratch.path)
        allowance = Allowance(project, settings)
        retries = {one["id"]: allowance.retries_of(one) for one in project.prompts}
        agent = settings.agent.name if settings.agent else ""
        say(
            f"codegenie build {relative(project.path)}: agent {agent}, workspace "
            f"{surroundings.workspace}: {workspace.isolation}"
        )
        with BuildProgress(retries, Console(highlight=False)) as progress:
            result = HarnessRunner(
                project.path,
                settings,
                surroundings=surroundings,
                watch=progress.watch,
            ).run()
    finally:
        scratch.remove()
    _tell_end(project, result)
    return result.exit_code


def _tell_end(project: Project, result: BuildResult) -> None:
    cost = f", {result.cost_usd:.4f} USD" if result.cost_usd else ""
    facts = (
        f"{result.completed} of {result.prompts} prompts complete, {result.tries} "
        f"tries{cost}"
    )
    if result.exit_code == 0:
        say(f"{result.message}; {facts}")
        if result.remedy:
            say(result.remedy)
        say(f"each step: {History(project.work / 'history.git').command}")
        return
    say(facts)
    complain(result.message)
    if result.remedy:
        complain(result.remedy)
