"""Python environments: built once for each recipe, shared by all who ask for it.

``plan`` decides from the project's files what is installed, ``interpreters`` which
Python it is for, ``installers`` who installs. ``building`` does it, ``separating``
takes the project itself out again, and ``store`` keeps what came out.
"""

from __future__ import annotations

import sys

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.building import Build
from pytest_codegenie.workspaces.environments.commands import SetupRun as SetupRun
from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.environments.installers import find_installer
from pytest_codegenie.workspaces.environments.interpreters import find_interpreter
from pytest_codegenie.workspaces.environments.interpreters import prefix_directories
from pytest_codegenie.workspaces.environments.interpreters import running_interpreter
from pytest_codegenie.workspaces.environments.plan import make_plan
from pytest_codegenie.workspaces.environments.store import Place
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


def _provide(recipe: Recipe, spec: WorkspaceSpec, run: SetupRun) -> Environment:
    cache = spec.cache.resolve()
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
    record = place.read()
    if record is None:
        with exclusive(place.lock):
            record = place.read()  # who held the lock before may have built it
            if record is None:
                build = Build(plan, interpreter, installer, settings, place, spec, run)
                record = build(recipe.tree)
    return place.environment(record)


def running_environment() -> Environment:
    """Return the environment that this process runs in."""
    return Environment(
        python=sys.executable,
        directories=prefix_directories([sys.prefix, sys.base_prefix]),
    )
