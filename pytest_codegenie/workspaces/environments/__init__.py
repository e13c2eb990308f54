"""Python environments: built once for each recipe, shared by all who ask for it.

``plan`` decides from the project's files what is installed, ``interpreters`` which
Python it is for, ``installers`` who installs. ``building`` does it, ``separating``
takes the project itself out again, and ``store`` keeps what came out.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.building import Build
from pytest_codegenie.workspaces.environments.commands import SetupRun as SetupRun
from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.environments.installers import Installer
from pytest_codegenie.workspaces.environments.installers import find_installer
from pytest_codegenie.workspaces.environments.interpreters import Interpreter
from pytest_codegenie.workspaces.environments.interpreters import find_interpreter
from pytest_codegenie.workspaces.environments.interpreters import prefix_directories
from pytest_codegenie.workspaces.environments.interpreters import running_interpreter
from pytest_codegenie.workspaces.environments.plan import Plan
from pytest_codegenie.workspaces.environments.plan import make_plan
from pytest_codegenie.workspaces.environments.store import Place
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.locks import exclusive
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


def provide(recipe: Recipe, spec: WorkspaceSpec, run: SetupRun) -> Environment:
    """Return the environment of a recipe, built on the first call anywhere.

    A later call starts no process. Who calls while it is built waits for it.

    Raises:
        WorkspaceUnavailable: It cannot be built or kept.
    """
    if recipe.install == "none" and running_interpreter().fits(recipe.python):
        return running_environment()
    try:
        return _provide(recipe, spec, run)
    except OSError as exc:
        raise WorkspaceUnavailable(
            f"environments cannot be kept in {spec.cache}: {exc}; make room there, or "
            "name another directory (--codegenie-out)"
        ) from exc


def foresee(recipe: Recipe, cache: Path, run: SetupRun) -> tuple[Needed, ...]:
    """Return the environment that a recipe needs, and whether it is there already.

    Raises:
        WorkspaceUnavailable: It cannot be built: no such Python, a broken file.
    """
    if recipe.install == "none" and running_interpreter().fits(recipe.python):
        return ()
    try:
        made = _decide(recipe, cache.resolve(), run)
        there = made.place.read() is not None
    except OSError as exc:
        raise WorkspaceUnavailable(
            f"environments cannot be kept in {cache}: {exc}"
        ) from exc
    state: Literal["here", "to be built"] = "here" if there else "to be built"
    return (Needed("environment", made.place.digest, state),)


@dataclass(frozen=True, slots=True)
class _Decided:
    """All that decides on an environment, and where it is, or will be."""

    plan: Plan
    interpreter: Interpreter
    installer: Installer
    settings: IndexSettings
    place: Place


def _decide(recipe: Recipe, cache: Path, run: SetupRun) -> _Decided:
    plan = make_plan(recipe)
    interpreter = find_interpreter(plan.python, cache, run)
    installer, settings = find_installer(), IndexSettings.of_user()
    place = Place.of(
        cache,
        {
            "interpreter": interpreter.model_dump(),
            "installer": installer.name,
            "settings": settings.fingerprint(),
            "plan": plan.fingerprint(),
        },
    )
    return _Decided(plan, interpreter, installer, settings, place)


def _provide(recipe: Recipe, spec: WorkspaceSpec, run: SetupRun) -> Environment:
    made = _decide(recipe, spec.cache.resolve(), run)
    place = made.place
    record = place.read()
    if record is None:
        with exclusive(place.lock):
            record = place.read()  # who held the lock before may have built it
            if record is None:
                build = Build(
                    made.plan,
                    made.interpreter,
                    made.installer,
                    made.settings,
                    place,
                    spec,
                    run,
                )
                record = build(recipe.tree)
    return place.environment(record)


def surroundings() -> dict[str, object]:
    """Return what of this machine decides on any environment, as JSON values.

    Nothing is started for it, so two things are not in it: which other Python a case
    gets that asks for one, and what an index offers today.
    """
    return {
        "interpreter": running_interpreter().model_dump(mode="json"),
        "installer": find_installer().name,
        "settings": IndexSettings.of_user().fingerprint(),
        "pytest": {name: version(name) for name in ("pytest", "pluggy")},
    }


def running_environment() -> Environment:
    """Return the environment that this process runs in."""
    return Environment(
        python=sys.executable,
        directories=prefix_directories([sys.prefix, sys.base_prefix]),
    )
