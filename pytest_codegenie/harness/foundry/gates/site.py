"""Where a gate's tool runs: the workspace, and reports outside of its tree."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import Workspace


_TAIL = 2000
_KEEP_BYTES = 1 << 20
#: Of a report; a larger one is none.
_MAX_REPORT_BYTES = 64 << 20


class ToolFailed(Exception):
    """A tool said nothing that can be used; ``reason`` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class GateSite:
    """A workspace that holds a step's code, for tools to run in."""

    workspace: Workspace
    #: What each tool has.
    seconds: float = 300.0

    @property
    def tree(self) -> Path:
        """Return the tree, on the host."""
        return self.workspace.tree

    @property
    def python(self) -> str:
        """Return the interpreter of the project's environment."""
        return self.workspace.environment.python

    def inside(self, path: Path) -> str:
        """Return how programs name a path of tree or scratch."""
        return self.workspace.inside(path)

    def new_directory(self) -> Path:
        """Return a new directory outside of the tree, of a name nobody can know."""
        directory = self.workspace.scratch / secrets.token_hex(16)
        directory.mkdir()
        return directory

    def run(
        self,
        name: str,
        argv: Sequence[str],
        variables: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run a tool to its end, in the tree's root, without a network.

        Args:
            name: Of the tool, for what is said.
            argv: The program and its arguments.
            variables: Added to its environment.

        Raises:
            ToolFailed: It cannot be started, or ran out of time or of what it may use.
        """
        env = {**self.workspace.variables("judge"), **(variables or {})}
        limits = Limits(timeout_seconds=self.seconds, keep_bytes=_KEEP_BYTES)
        try:
            done = self.workspace.exec(argv, phase="judge", env=env, limits=limits)
        except NotStarted as exc:
            raise ToolFailed(f"{name} cannot be started: {exc}") from exc
        if done.timed_out:
            raise ToolFailed(
                f"{name} did not end within {self.seconds:g} seconds (tool_seconds)"
            )
        if done.exceeded:
            raise ToolFailed(f"{name} was ended: it used {done.exceeded}")
        return done

    def run_module(
        self, module: str, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> Completed:
        """Run a module of the project's environment, as ``run``."""
        return self.run(module, [self.python, "-m", module, *arguments], variables)

    @staticmethod
    def read(path: Path) -> bytes:
        """Return a report; empty where there is none, as a tool may leave anything."""
        try:
            if path.is_symlink() or path.stat().st_size > _MAX_REPORT_BYTES:
                return b""
            return path.read_bytes()
        except OSError:
            return b""


def last_words(done: Completed) -> str:
    """Return the end of what a program printed."""
    text = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")
    return text[-_TAIL:] or "it printed nothing"
