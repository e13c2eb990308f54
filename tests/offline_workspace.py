"""A workspace without a network; all else of this machine is open."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import environments
from pytest_codegenie.workspaces.host import run_setup
from pytest_codegenie.workspaces.host import run_supervised
from pytest_codegenie.workspaces.limiting import caged
from pytest_codegenie.workspaces.local_tree import LocalTree
from pytest_codegenie.workspaces.local_tree import add_environment
from pytest_codegenie.workspaces.local_tree import fixed_variables
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Phase
from pytest_codegenie.workspaces.protocol import Recipe


UNSHARE = ("unshare", "--user", "--map-current-user", "--net", "--")


class OfflineWorkspace(LocalTree):
    """Programs run as this user, in a network namespace with nothing in it."""

    name = "offline"
    isolation = "no network; files and processes are open"

    def probe(self) -> str:
        """Return "" if ``unshare`` works, or else why not."""
        if shutil.which(UNSHARE[0]) is None:
            return "unshare is not installed (apt-get install util-linux)"
        done = subprocess.run(
            [*UNSHARE, "true"], capture_output=True, text=True, check=False
        )
        return "" if done.returncode == 0 else f"unshare fails: {done.stderr.strip()}"

    def provide(self, recipe: Recipe) -> Environment:
        """Return a virtual environment; building it may use the network."""
        return environments.provide(recipe, self.spec, run_setup)

    def inside(self, path: Path) -> str:
        """Return the path as it is."""
        return str(path)

    def variables(self, phase: Phase) -> dict[str, str]:
        """Return next to nothing; nothing of the user's."""
        variables = fixed_variables(str(self.home), str(self.temporary))
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
        self._check_program(argv[0], env)
        with caged(self.spec.limits, self.spec.directory, limits) as cage:
            completed = run_supervised(
                [*UNSHARE, *argv],
                cwd=self.tree,
                env=env,
                limits=cage.limits,
                stdin_path=stdin_path,
                log_path=log_path,
            )
            return cage.told(completed)

    def _check_program(self, program: str, env: Mapping[str, str]) -> None:
        """See to it that there is such a program: ``unshare`` always starts."""
        name = str(self.tree / program) if "/" in program else program
        if shutil.which(name, path=env.get("PATH", os.defpath)):
            return
        if "/" in program and Path(name).exists():
            raise NotStarted(program, "Permission denied", "EACCES")
        raise NotStarted(program, "No such file or directory", "ENOENT")
