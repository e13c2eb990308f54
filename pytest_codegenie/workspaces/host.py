"""The workspace ``host``: a temporary directory of this machine, nothing isolated."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie import processes
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import CompanionDied
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.trees import copy_file
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces import git
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import Phase


#: Of our own process and of tools around it, which is none of an agent's business.
_PRIVATE_PREFIXES = ("CODEGENIE_", "COV_CORE_", "GIT_", "PYTEST_", "PYTHON")


class HostWorkspace:
    """A copy of the repository in a directory; programs run as this user."""

    name = "host"
    isolation = "nothing is isolated: agents run as you, on this machine"

    def __init__(self) -> None:
        self.tree = Path()
        self._directory = Path()
        self._base: Base | None = None

    def prepare(self, base: Base, directory: Path) -> None:
        """Copy the base's files and give them a git repository of one commit."""
        self._base = base
        self._directory = directory
        self.tree = directory / "repo"
        try:
            copy_tree(base.tree, self.tree)
            copy_tree(base.git_dir, self.tree / ".git")
            for name in ("home", "tmp"):
                (directory / name).mkdir()
        except OSError as exc:
            raise WorkspaceUnavailable(
                f"a workspace cannot be made in {directory}: {exc.strerror or exc}"
            ) from exc

    def environment(self, phase: Phase) -> dict[str, str]:
        """Return the user's own for an agent, next to nothing for judging."""
        fixed = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(self._directory / "tmp")}
        if phase == "agent":
            own = {
                key: value
                for key, value in os.environ.items()
                if not key.startswith(_PRIVATE_PREFIXES)
            }
            return own | fixed
        return fixed | {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._directory / "home"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
        }

    def exec(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        limits: Limits,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
    ) -> Completed:
        """Run a program in the tree, under the process supervisor."""
        try:
            return processes.run(
                argv,
                cwd=self.tree,
                env=env,
                stdin_path=stdin_path,
                log_path=log_path,
                limits=limits,
            )
        except CompanionDied as exc:
            raise WorkspaceUnavailable(str(exc)) from exc

    def put(self, files: Mapping[str, Path | None]) -> None:
        """Write files into the tree; a link in the way is replaced, not followed."""
        for name, source in files.items():
            target = self._clear_way(name)
            if source is None:
                continue
            if source.is_symlink():
                target.symlink_to(source.readlink())
            else:
                copy_file(os.fspath(source), os.fspath(target))

    def apply_patch(self, patch: str) -> tuple[bool, str]:
        """Apply a git diff to the tree, all of it or nothing."""
        assert self._base is not None
        return git.apply_patch(self._base, self.tree, patch)

    def diff(self, output: Path) -> str:
        """Return how the tree differs from the base, as a git diff."""
        assert self._base is not None
        scratch = Path(tempfile.mkdtemp(dir=self._directory, prefix="diff-"))
        return git.take_diff(self._base, self.tree, scratch, output)

    def destroy(self) -> None:
        """Remove the directory."""
        remove_tree(self._directory)

    def _clear_way(self, name: str) -> Path:
        """Return the path of ``name``, free, below real directories of the tree."""
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or parts[0] == "/":
            raise ValueError(f"{name!r} is no path inside of the tree")
        here = self.tree
        for part in parts[:-1]:
            here /= part
            if here.is_symlink() or (here.exists() and not here.is_dir()):
                here.unlink()
            here.mkdir(exist_ok=True)
        here /= parts[-1]
        if here.is_dir() and not here.is_symlink():
            remove_tree(here)
        else:
            here.unlink(missing_ok=True)
        return here
