"""What a workspace is: a place with a copy of the repository where programs run."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from typing import Protocol

from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits


Phase = Literal["agent", "judge"]


@dataclass(frozen=True, slots=True)
class Base:
    """The code that a case starts from; read-only."""

    #: The files.
    tree: Path
    #: A git directory with exactly one commit, of exactly these files.
    git_dir: Path


class Workspace(Protocol):
    """One place, used once: prepare, work, destroy.

    Whatever runs inside is not trusted, and neither is what it leaves: a method that
    reads or writes the tree follows no link out of it and runs nothing from it.
    """

    #: As in ``--codegenie-workspace``.
    name: str
    #: One line for the header: what is isolated here, and what is not.
    isolation: str
    #: The tree, as programs inside see it.
    tree: Path

    def prepare(self, base: Base, directory: Path) -> None:
        """Make the tree from ``base``.

        Args:
            base: What the tree holds, with a git repository of its one commit.
            directory: An empty directory for all that the workspace needs.

        Raises:
            WorkspaceUnavailable: It could not be made. An error, never a fail.
        """
        ...

    def environment(self, phase: Phase) -> dict[str, str]:
        """Return the environment that a program in that phase starts from."""
        ...

    def exec(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        limits: Limits,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
    ) -> Completed:
        """Run a program in the tree to its end; nothing that it started lives on.

        Raises:
            NotStarted: There is no such program, or it may not be executed.
            WorkspaceUnavailable: The place itself broke.
        """
        ...

    def put(self, files: Mapping[str, Path | None]) -> None:
        """Write files into the tree; None removes what is there.

        Args:
            files: POSIX path relative to the tree to the file or link to copy.
        """
        ...

    def apply_patch(self, patch: str) -> tuple[bool, str]:
        """Apply a git diff to the tree, all of it or nothing: (success, output)."""
        ...

    def diff(self, output: Path) -> str:
        """Return how the tree differs from the base, as a git diff; "" if it does not.

        Args:
            output: Gets the diff too; it is left there when it is too large.

        Raises:
            PatchTooLarge: It exceeds what is judged.
            WorkspaceUnavailable: Git could not read the tree.
        """
        ...

    def destroy(self) -> None:
        """Remove everything, whatever modes the files have. Never raises."""
        ...


class PatchTooLarge(Exception):
    """The diff is larger than what is judged: (bytes, limit in bytes)."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(size, limit)
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        return f"the patch has {self.size} bytes; at most {self.limit} are judged"
