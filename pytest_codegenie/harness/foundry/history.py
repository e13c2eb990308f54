"""The build history: a git repository of our own, a commit for each step of a build."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.listing import list_tree
from pytest_codegenie.workspaces.git import ATTRIBUTES
from pytest_codegenie.workspaces.git import SETTINGS
from pytest_codegenie.workspaces.git import GitFailed
from pytest_codegenie.workspaces.git import run_git


_BRANCH = "refs/heads/main"
_CONFIG = f"""\
{SETTINGS}\
[core]
\tbare = true
\tlogallrefupdates = true
\tfsync = all
[commit]
\tgpgsign = false
"""
_DIFF = ("--binary", "--full-index", "--find-renames", "--no-ext-diff", "--no-color")
_PREFIXES = ("--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")


@dataclass(frozen=True, slots=True)
class Difference:
    """One file that two commits have differently."""

    path: str
    #: Blobs; "" where there is no such file.
    before: str
    after: str
    #: Of the later one: its owner may execute it.
    is_program: bool


class History:
    """Commits of a project's files; nothing of the user's own git is touched.

    Args:
        git_dir: Of the repository; made when it is needed.
    """

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir

    @property
    def command(self) -> str:
        """Return how a person looks at it, from the working directory."""
        return f"git --git-dir {shlex.quote(relative(self.git_dir))} log -p"

    def make(self) -> None:
        """Make it, where it is not there; a kill leaves nothing half."""
        directory = self.git_dir
        if (directory / "info" / "attributes").exists():
            return
        for name in ("objects/pack", "objects/info", "refs/heads", "info"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        (directory / "HEAD").write_text(f"ref: {_BRANCH}\n", encoding="ascii")
        (directory / "config").write_text(_CONFIG, encoding="ascii")
        (directory / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")

    def write_tree(self, directory: Path) -> str:
        """Return the tree of all files of a directory but by-products."""
        return self._write(directory, list_tree(directory), None)

    def extend_tree(self, commit: str, directory: Path, paths: Iterable[str]) -> str:
        """Return the tree of a commit with some files as a directory has them.

        Args:
            commit: What it is made from.
            directory: Where the files are.
            paths: Relative to both; regular files.
        """
        return self._write(directory, paths, commit)

    def _write(self, directory: Path, paths: Iterable[str], commit: str | None) -> str:
        index = self.git_dir / f"index-{secrets.token_hex(4)}"
        place = {
            **self._place,
            "GIT_WORK_TREE": str(directory),
            "GIT_INDEX_FILE": str(index),
        }
        names = "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")
        try:
            run_git(["read-tree", commit or "--empty"], directory, place)
            add = ["update-index", "--add", "-z", "--stdin"]
            run_git(add, directory, place, stdin=names)
            return run_git(["write-tree"], directory, place)
        finally:
            index.unlink(missing_ok=True)

    def tree_of(self, commit: str) -> str:
        """Return a commit's tree.

        Raises:
            ProjectError: There is no such commit here.
        """
        try:
            name = ["--quiet", "--verify", "--end-of-options", f"{commit}^{{tree}}"]
            return run_git(["rev-parse", *name], self.git_dir, self._place)
        except GitFailed:
            raise ProjectError(
                self.git_dir,
                f"the build history has no commit {commit!r}, which build_state.json "
                "names; put it back, or remove build_state.json: then the build begins "
                "anew, with src/ and tests/ as they are",
            ) from None

    def commit(
        self,
        tree: str,
        parent: str | None,
        title: str,
        trailers: Mapping[str, str] | None = None,
    ) -> str:
        """Return a new commit of a tree; no branch is moved.

        Args:
            tree: As ``write_tree`` returns it.
            parent: A commit; None: it is the first.
            title: The message's first line.
            trailers: Key to value, at the message's end.
        """
        lines = [f"{key}: {value}" for key, value in (trailers or {}).items() if value]
        message = "\n".join([title, *([""] if lines else []), *lines, ""])
        parents = ["-p", parent] if parent else []
        arguments = ["commit-tree", tree, *parents, "-F", "-"]
        return run_git(arguments, self.git_dir, self._place, stdin=message.encode())

    def head(self) -> str | None:
        """Return the commit that the branch ends in; None: there is none yet."""
        try:
            name = ["--quiet", "--verify", _BRANCH]
            return run_git(["rev-parse", *name], self.git_dir, self._place)
        except GitFailed:
            return None

    def move_to(self, commit: str) -> None:
        """Let the branch end in a commit; what it was is in its reflog."""
        arguments = ["update-ref", "--create-reflog", _BRANCH, commit]
        run_git(arguments, self.git_dir, self._place)

    def parent(self, commit: str) -> str:
        """Return the commit before one."""
        name = ["--quiet", "--verify", "--end-of-options", f"{commit}^"]
        return run_git(["rev-parse", *name], self.git_dir, self._place)

    def keep(self, commit: str) -> str:
        """Keep a commit beside the branch; return the ref that does."""
        ref = f"refs/kept/{commit[:12]}"
        run_git(["update-ref", ref, commit], self.git_dir, self._place)
        return ref

    def differences(self, before: str, after: str) -> list[Difference]:
        """Return the files that two commits or trees have differently."""
        arguments = ["diff-tree", "-r", "-z", "--no-renames", before, after]
        words = run_git(arguments, self.git_dir, self._place).split("\0")
        return [
            _difference(facts, path)
            for facts, path in zip(words[::2], words[1::2], strict=False)
        ]

    def diff(self, before: str, after: str) -> str:
        """Return how two commits differ as a git diff; "" if they do not."""
        arguments = ["diff", *_DIFF, *_PREFIXES, before, after, "--"]
        path = self.git_dir / f"diff-{secrets.token_hex(4)}"
        try:
            with path.open("wb") as file:
                run_git(arguments, self.git_dir, self._place, stdout=file)
            return path.read_bytes().decode(errors="surrogateescape")
        finally:
            path.unlink(missing_ok=True)

    def blob(self, name: str, target: Path) -> None:
        """Write a blob's bytes to a new file."""
        with target.open("xb") as file:
            arguments = ["cat-file", "blob", name]
            run_git(arguments, self.git_dir, self._place, stdout=file)

    @property
    def _place(self) -> dict[str, str]:
        return {"GIT_DIR": str(self.git_dir)}


def _difference(facts: str, path: str) -> Difference:
    _, mode, before, after, _ = facts.split(" ")
    gone = "0" * len(before)
    return Difference(
        path,
        "" if before == gone else before,
        "" if after == gone else after,
        is_program=mode == "100755",
    )
