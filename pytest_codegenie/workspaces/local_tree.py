"""What workspaces have in common whose tree is a directory of this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_file
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces import git
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


class LocalTree:
    """The tree, the scratch directory, a home and a place for temporary files.

    A base for workspaces: it has all of ``Workspace`` that is about files. They lie in
    the spec's directory as ``repo``, ``scratch``, ``home`` and ``tmp``.
    """

    shares_programs = True

    def __init__(self) -> None:
        self._spec: WorkspaceSpec | None = None
        self.tree = Path()
        self.scratch = Path()
        self.home = Path()
        self.temporary = Path()
        self.environment = Environment("")
        self._base: Base | None = None

    @property
    def spec(self) -> WorkspaceSpec:
        """What is asked for, once that is known."""
        assert self._spec is not None, "configure comes first"
        return self._spec

    def configure(self, spec: WorkspaceSpec) -> None:
        """Take what is asked for."""
        self._spec = spec

    def prepare(self, base: Base, environment: Environment) -> None:
        """Copy the base's files and give them a git repository of one commit."""
        self._base = base
        self.environment = environment
        directory = self.spec.directory
        self.tree = directory / "repo"
        self.scratch = directory / "scratch"
        self.home = directory / "home"
        self.temporary = directory / "tmp"
        try:
            copy_tree(base.tree, self.tree)
            copy_tree(base.git_dir, self.tree / ".git")
            for path in (self.scratch, self.home, self.temporary):
                path.mkdir()
        except OSError as exc:
            raise WorkspaceUnavailable(
                f"a workspace cannot be made in {directory}: {exc.strerror or exc}"
            ) from exc

    def stand_in_for(self, other: LocalTree) -> None:
        """Take over another's directories as they are."""
        self._spec = other._spec
        self._base = other._base
        self.tree = other.tree
        self.scratch = other.scratch
        self.home = other.home
        self.temporary = other.temporary
        # What is installed in an image is not installed here.
        inside = other.environment.image
        self.environment = Environment("") if inside else other.environment

    def put(self, files: Mapping[str, Path | None]) -> None:
        """Write files into the tree; a link in the way is replaced, not followed."""
        for name, source in files.items():
            target = self._clear_way(name)
            if source is None:
                continue
            if source.is_symlink():
                target.symlink_to(source.readlink())
            else:
                copy_file(str(source), str(target))

    def apply_patch(self, patch: str) -> tuple[bool, str]:
        """Apply a git diff to the tree, all of it or nothing."""
        assert self._base is not None
        return git.apply_patch(self._base, self.tree, patch)

    def diff(self, output: Path) -> str:
        """Return how the tree differs from the base, as a git diff."""
        assert self._base is not None
        scratch = Path(tempfile.mkdtemp(dir=self.spec.directory, prefix="diff-"))
        return git.take_diff(self._base, self.tree, scratch, output)

    def destroy(self) -> None:
        """Remove the directory."""
        if self._spec is not None:
            remove_tree(self._spec.directory)

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


def fixed_variables(home: str, temporary: str) -> dict[str, str]:
    """Return what a program gets that nobody's own settings may reach."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": home,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def add_environment(
    variables: dict[str, str], environment: Environment, tree: str
) -> dict[str, str]:
    """Return variables with which programs find an environment and the project.

    Args:
        variables: Of the workspace; they have a ``PATH``.
        environment: What the project's packages are in.
        tree: As programs inside name it.
    """
    added = dict(variables)
    if environment.own:
        programs = str(PurePosixPath(environment.python).parent)
        added["PATH"] = f"{programs}:{added['PATH']}"
        added["VIRTUAL_ENV"] = str(PurePosixPath(programs).parent)
    if environment.roots:
        paths = (str(PurePosixPath(tree, root)) for root in environment.roots)
        added["PYTHONPATH"] = ":".join(paths)
    return {**added, **environment.variables}
