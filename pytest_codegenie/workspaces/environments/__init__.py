"""Python environments: built once for each recipe, shared by all who ask for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


class SetupRun(Protocol):
    """Runs a command of the phase ``setup``, as a workspace does that."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        writable: Sequence[Path],
        limits: Limits,
        log_path: Path | None,
    ) -> Completed:
        """Run it to its end.

        Args:
            argv: The program and its arguments.
            cwd: Its working directory.
            env: Its whole environment.
            writable: Directories of the host that it may write to; all others are
                read-only where the workspace isolates.
            limits: Of time and output.
            log_path: Gets its output while it runs.

        Raises:
            NotStarted: There is no such program, or it may not be executed.
            WorkspaceUnavailable: The place itself broke.
        """
        ...


def provide(recipe: Recipe, spec: WorkspaceSpec, run: SetupRun) -> Environment:
    """Return the environment of a recipe, built on the first call anywhere."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if recipe.install != "none" or recipe.python not in ("", here):
        raise WorkspaceUnavailable("not yet")
    return running_environment()


def running_environment() -> Environment:
    """Return the environment that this process runs in."""
    parts = ("bin", "include", "lib", "lib64", "share", "pyvenv.cfg")
    prefixes = dict.fromkeys((sys.prefix, sys.base_prefix))
    return Environment(
        python=sys.executable,
        directories=tuple(
            path
            for prefix in prefixes
            if not Path(prefix).is_relative_to("/usr")
            for path in (Path(prefix, part) for part in parts)
            if path.exists()
        ),
    )
