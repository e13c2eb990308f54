"""Workspaces as the behaviour suite uses them: made, worked in, and gone without trace.

The suite is ``tests/unit/workspaces/``. A test of it that takes the fixture
``workspace`` or ``lab`` runs once for each workspace that the hooks give.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.parts import make_part
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes.cgroups import cgroup_parent
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces.protocol import Phase


#: In the environment of all that the suite starts, to know it by afterwards.
_TOKEN = "SUITE_TOKEN"
#: Of the workspace that the suite's own plugin registers.
THIRD_PARTY = "offline"
#: Where agents and tests are the user's own processes, with the user's own files.
SHARES_FILES = ("host", THIRD_PARTY)
SHARES_PROCESSES = ("host", THIRD_PARTY)
SHARES_NETWORK = ("host",)


def isolates(what: str, *, open_in: Sequence[str] = ()) -> pytest.MarkDecorator:
    """Mark a test that tries to do something that a workspace may prevent.

    The table of ``docs/how-to/choose-a-workspace.md`` has a row for it.

    Args:
        what: What a program inside can do where it is open, in words for the table.
        open_in: The workspaces where it can. The fixture ``is_open`` says whether the
            test's own is one of them.
    """
    return pytest.mark.isolates(what, open_in=tuple(open_in))


@dataclass
class Lab:
    """Makes workspaces of one kind, and sees to it that nothing is left of them."""

    name: str
    reference: str
    base: Base
    #: Empty; for all that is made.
    directory: Path
    _made: list[Workspace] = field(default_factory=list)
    _token: str = field(default_factory=lambda: secrets.token_hex(8))
    #: Of rubrics that wait for more, in this process.
    _groups_before: set[Path] = field(default_factory=lambda: _cgroups())  # noqa: PLW0108 -- defined below

    def probe(self) -> str:
        """Return "" if the workspace works here, or else why not."""
        return str(self._new().probe())

    def make(self, **spec: Any) -> Workspace:
        """Return a workspace that is prepared; the arguments are for its spec."""
        workspace: Workspace = self._new()
        directory = self.directory / f"{self.name}-{len(self._made)}"
        directory.mkdir()
        self._made.append(workspace)
        cache = self.directory / "cache"
        workspace.configure(WorkspaceSpec(directory, cache, **spec))
        recipe = Recipe(tree=self.base.tree, repository="acme/thermometer")
        workspace.prepare(self.base, workspace.provide(recipe))
        return workspace

    def run(
        self,
        workspace: Workspace,
        argv: Sequence[str],
        *,
        phase: Phase = "agent",
        env: Mapping[str, str] | None = None,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
        **limits: Any,
    ) -> Completed:
        """Run a program in a workspace; ``env`` is added to the phase's variables."""
        return workspace.exec(
            argv,
            phase=phase,
            env=workspace.variables(phase) | {_TOKEN: self._token, **(env or {})},
            limits=Limits(**limits),
            stdin_path=stdin_path,
            log_path=log_path,
        )

    def shell(self, workspace: Workspace, script: str, **options: Any) -> str:
        """Run a script that must end well; return what it prints."""
        done = self.run(workspace, ["/bin/sh", "-ec", script], **options)
        assert done.exit_code == 0, (script, done)
        return done.stdout.decode()

    def python(self, workspace: Workspace, code: str, *arguments: str) -> str:
        """Run Python that must end well; return what it prints, stripped."""
        argv = [workspace.environment.python, "-c", code, *arguments]
        done = self.run(workspace, argv)
        assert done.exit_code == 0, (code, done)
        return done.stdout.decode().strip()

    def close(self) -> None:
        """Destroy all workspaces; what is left of them is a failure."""
        for workspace in self._made:
            workspace.destroy()
        assert self.processes() == []
        assert _cgroups() <= self._groups_before
        assert _mounts_below(self.directory) == []
        left = [path for path in self.directory.iterdir() if path.name != "cache"]
        assert left == []

    def processes(self) -> list[int]:
        """Return the processes of the machine that the lab's programs are."""
        word = f"{_TOKEN}={self._token}".encode()
        found = []
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if process.name.isdigit() and word in _environment(process):
                    found.append(int(process.name))
        return found

    def _new(self) -> Any:
        return make_part("workspace", self.name, {self.name: self.reference})


def listing(tree: Path) -> dict[str, tuple[str, bytes]]:
    """Return path to (kind, content) of a tree, its own ``.git`` left out."""
    found = {}
    for path, entry in walk(tree, skip=".git"):
        if entry.is_symlink():
            found[path] = ("link", os.fsencode(Path(entry.path).readlink()))
        elif entry.is_file():
            kind = "executable" if entry.stat().st_mode & 0o100 else "file"
            found[path] = (kind, Path(entry.path).read_bytes())
    return found


def _environment(process: Path) -> list[bytes]:
    return (process / "environ").read_bytes().split(b"\0")


def _cgroups() -> set[Path]:
    """Return the groups that this process has made and not removed."""
    parent = cgroup_parent()[0]
    directories = set(parent.directories.values()) if parent else set()
    pattern = f"codegenie-{os.getpid()}-*"
    return {group for path in directories for group in path.glob(pattern)}


def _mounts_below(directory: Path) -> list[str]:
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if f" {directory}/" in line]
