"""The workspace ``host``: a temporary directory of this machine, nothing isolated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie import processes
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import CompanionDied
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.workspaces import environments
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.limiting import caged
from pytest_codegenie.workspaces.limiting import limits_by
from pytest_codegenie.workspaces.local_tree import LocalTree
from pytest_codegenie.workspaces.local_tree import add_environment
from pytest_codegenie.workspaces.local_tree import fixed_variables
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Phase
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import Workspace


#: Of our own process and of tools around it, which is none of an agent's business.
_PRIVATE_PREFIXES = ("CODEGENIE_", "COV_CORE_", "GIT_", "PYTEST_", "PYTHON")


class HostWorkspace(LocalTree):
    """A copy of the repository in a directory; programs run as this user."""

    name = "host"

    @property
    def isolation(self) -> str:
        """Say that there is none."""
        return f"nothing is isolated: agents run as you, on this machine; {limits_by()}"

    def probe(self) -> str:
        """Return "": it works wherever Python does."""
        return ""

    def provide(self, recipe: Recipe) -> Environment:
        """Return a virtual environment, built by commands that run as this user."""
        return environments.provide(recipe, self.spec, run_setup)

    def foresee(self, recipe: Recipe) -> tuple[Needed, ...]:
        """Return the environment that a recipe needs, and whether it is there."""
        return environments.foresee(recipe, self.spec.cache, run_setup)

    def inside(self, path: Path) -> str:
        """Return the path as it is."""
        return str(path)

    def variables(self, phase: Phase) -> dict[str, str]:
        """Return the user's own for an agent, next to nothing for judging."""
        variables = fixed_variables(str(self.home), str(self.temporary))
        variables["PATH"] = os.environ.get("PATH", os.defpath)
        if phase == "agent":
            own = {
                key: value
                for key, value in os.environ.items()
                if not key.startswith(_PRIVATE_PREFIXES)
            }
            kept = ("PYTHONDONTWRITEBYTECODE", "TMPDIR")
            variables = own | {key: variables[key] for key in kept}
        return add_environment(variables, self.environment, str(self.tree))

    def exec(
        self,
        argv: Sequence[str],
        *,
        phase: Phase,
        env: Mapping[str, str],
        limits: Limits,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
    ) -> Completed:
        """Run a program in the tree, under the process supervisor."""
        with caged(self.spec.limits, self.spec.directory, limits) as cage:
            completed = run_supervised(
                argv,
                cwd=self.tree,
                env=env,
                limits=cage.limits,
                stdin_path=stdin_path,
                log_path=log_path,
            )
            return cage.told(completed)


def on_this_side(workspace: Workspace) -> HostWorkspace:
    """Return the host's view of another workspace, prepared, on the same directories.

    For an agent that cannot run inside: nothing of it is isolated.

    Raises:
        WorkspaceUnavailable: The other's tree is not on this machine.
    """
    if not isinstance(workspace, LocalTree):
        raise WorkspaceUnavailable(
            f"workspace {workspace.name!r} has no tree on this machine, so an agent "
            "whose execution_mode is 'host' cannot work in it"
        )
    view = HostWorkspace()
    view.stand_in_for(workspace)
    return view


def run_supervised(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    stdin_path: Path | None = None,
    log_path: Path | None = None,
    inherited: Mapping[int, Path] | None = None,
) -> Completed:
    """Run a program of this machine under the process supervisor.

    Raises:
        NotStarted: There is no such program, or it may not be executed.
        WorkspaceUnavailable: The supervisor died.
    """
    try:
        return processes.run(
            argv,
            cwd=cwd,
            env=env,
            stdin_path=stdin_path,
            log_path=log_path,
            limits=limits,
            inherited=inherited,
        )
    except CompanionDied as exc:
        raise WorkspaceUnavailable(str(exc)) from exc


def run_setup(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    readable: Sequence[Path],
    writable: Sequence[Path],
    limits: Limits,
    log_path: Path | None,
) -> Completed:
    """Run a command that builds an environment; here it may read and write all."""
    return run_supervised(argv, cwd=cwd, env=env, limits=limits, log_path=log_path)
