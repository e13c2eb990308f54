"""A project's files between its history and its directory: taken in, and put back."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.history import History
from pytest_codegenie.harness.foundry.listing import Changes
from pytest_codegenie.harness.foundry.listing import Found
from pytest_codegenie.harness.foundry.listing import compare
from pytest_codegenie.harness.foundry.placing import Placing
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.results import BuildStopped
from pytest_codegenie.harness.foundry.state_registry import StateRegistry


#: Told of an event: its type, and its payload.
Tell = Callable[..., None]


class ProjectFiles:
    """Moves the project's own files from one commit to another, and nothing else does.

    Args:
        project: The project.
        registry: Locked.
        tell: Told what becomes of files.
        scratch: A directory of ours.
    """

    def __init__(
        self, project: Project, registry: StateRegistry, tell: Tell, scratch: Path
    ) -> None:
        self._project = project
        self._registry = registry
        self._tell = tell
        self._scratch = scratch
        self._copies = 0
        self.history = History(project.work / "history.git")
        self._placing = Placing(project.path, project.work, self.history)

    def copy(self) -> Path:
        """Return a new directory with what agents get to see."""
        self._copies += 1
        target = self._scratch / f"tree-{self._copies}"
        self._project.copy_to(target)
        return target

    def begin(self, documents: dict[str, str]) -> None:
        """Begin a build with the files as they are; an older history goes on."""
        self.history.make()
        tree = self.history.write_tree(self.copy())
        commit = self.history.commit(tree, self.history.head(), "Start of the build")
        self._registry.start_anew(documents=documents, start=commit, head=commit)
        self.history.move_to(commit)

    def check_history(self) -> None:
        """See to it that the history has what the state names.

        Raises:
            ProjectError: It has not.
        """
        self.history.make()
        self.history.tree_of(self._registry.state.head)

    def take_changes(self, *, told: bool = False) -> None:
        """Commit what was changed by hand since the last build, as it is.

        Args:
            told: It is known already.
        """
        state = self._registry.state
        tree = self.history.write_tree(self.copy())
        known = self.history.tree_of(state.head)
        if tree == known:
            return
        paths = [one.path for one in self.history.differences(known, tree)]
        commit = self.history.commit(tree, state.head, "Changed by hand")
        self._registry.change(head=commit)
        self.history.move_to(commit)
        if not told:
            self._tell("project.changed_by_hand", paths=paths, commit=commit)

    def apply(self, commit: str, completed: Sequence[str], **more: Any) -> None:
        """Make the project what a commit has; a kill in between is made good.

        Args:
            commit: Of the history.
            completed: The prompts that are complete then.
            more: Further keys of the state that change before anything else.
        """
        applying = {
            "commit": commit,
            "previous": self._registry.state.head,
            "completed": list(completed),
        }
        self._registry.change(applying=applying, **more)
        self.finish()

    def finish(self) -> None:
        """Do what a build was about to do with the project's files, if it was."""
        applying, head = self._registry.state.applying, self._registry.state.head
        if applying is None:
            if self.history.head() != head:
                self.history.move_to(head)
            return
        strangers = self._placing.strangers(applying.previous, applying.commit)
        if strangers:
            self._keep_aside(applying.previous, strangers)
        self._placing.place(applying.previous, applying.commit)
        self._registry.change(
            completed=applying.completed, head=applying.commit, applying=None
        )
        self.history.move_to(applying.commit)

    def _keep_aside(self, parent: str | None, paths: list[str]) -> None:
        tree = self.history.write_tree(self.copy())
        kept = self.history.commit(tree, parent, "Changed by hand while a build ended")
        ref = self.history.keep(kept)
        self._tell("project.kept", paths=paths, commit=kept, ref=ref)

    def check_untouched(self, before: dict[str, Found], commit: str) -> None:
        """See to it that nobody has changed src/ or tests/ while a step was done.

        Args:
            before: What they held when it began.
            commit: What is to be put there.

        Raises:
            BuildStopped: Somebody has; the commit is kept.
        """
        changes: Changes = compare(before, self._project.listing())
        if not changes.all:
            return
        ref = self.history.keep(commit)
        paths = ", ".join(relative(self._project.path / one) for one in changes.all[:5])
        raise BuildStopped(
            "rule",
            f"{paths} changed while the step was done, and what was built is not put "
            f"over that; it is kept in the build history as {ref}",
            "run the build again: it goes on from your change",
        )
