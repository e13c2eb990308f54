"""Before the first try: what src/ and tests/ run with, and whether tools are there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.quality_gate import QualityGate
from pytest_codegenie.harness.foundry.rooms import BuildRoom
from pytest_codegenie.harness.foundry.rooms import ProjectRoom
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import make_base


def prepare(project: Project, gate: QualityGate, room: BuildRoom, tree: Path) -> None:
    """Provide the environment of a build, and look whether its gates can be run in it.

    Args:
        project: The project.
        gate: Its gates.
        room: Of the build; gets the environment.
        tree: A copy of the project as it is.

    Raises:
        CaseError: It cannot be provided, or they cannot: no agent is asked then.
    """
    if isinstance(room, ProjectRoom):
        room.provide(_recipe(project, gate, tree))
    room.environment = with_source(room.environment)
    base = make_base(tree, room.scratch / "tools.git")
    with room.workspace(base, "tools") as workspace:
        missing = gate.missing(workspace)
    if missing:
        raise AgentUnavailable(
            f"no gate can be run: {missing}; with 'install: none' that is what "
            "codegenie itself runs in: pip install 'pytest-codegenie[foundry]'"
        )


def _recipe(project: Project, gate: QualityGate, tree: Path) -> Recipe:
    wanted = project.harness.environment
    install = wanted.install
    return Recipe(
        tree=tree,
        repository=project.path.name,
        python=wanted.python,
        install=tuple(install) if isinstance(install, list) else install,
        image=wanted.image,
        packages=gate.packages,
    )


def with_source(environment: Environment) -> Environment:
    """Return an environment in which modules are imported from src/ of the tree."""
    if "src" in environment.roots:
        return environment
    return dataclasses.replace(environment, roots=("src", *environment.roots))
