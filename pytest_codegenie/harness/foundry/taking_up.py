"""Where a build goes on: its state and files are made to agree, or are taken back."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.project_files import ProjectFiles
from pytest_codegenie.harness.foundry.project_files import Tell
from pytest_codegenie.harness.foundry.records import BuildState
from pytest_codegenie.harness.foundry.results import BuildStopped
from pytest_codegenie.harness.foundry.state_registry import StateRegistry
from pytest_codegenie.harness.foundry.state_registry import now


class TakingUp:
    """Reads how far a project is, and makes good what a kill left half done.

    Args:
        project: The project.
        registry: Locked.
        files: The project's.
        tell: Told what was found.
    """

    def __init__(
        self,
        project: Project,
        registry: StateRegistry,
        files: ProjectFiles,
        tell: Tell,
    ) -> None:
        self._project = project
        self._registry = registry
        self._files = files
        self._tell = tell

    def take_up(self, *, from_scratch: bool = False) -> None:
        """Make the project's files and state agree, and be what the build goes on from.

        Args:
            from_scratch: Then put src/ and tests/ back to what they were at first.

        Raises:
            ProjectError: The state is lost.
            BuildStopped: A document changed since the build began.
        """
        registry, files = self._registry, self._files
        registry.load()
        for problem in registry.problems:
            self._tell("state.problem", message=problem)
        if registry.is_lost:
            raise ProjectError(
                registry.path,
                f"{registry.problems[-1]}; put a good one there, or run the build "
                "again: it then begins with src/ and tests/ as they are",
            )
        if not registry.state.start:
            files.begin(self._project.digests())
        files.check_history()
        files.finish()
        if from_scratch:
            self._begin_again()
        check_documents(self._project, registry.state)
        # What is beside src/ and tests/ did not go back to the start.
        files.take_changes(told=from_scratch)

    def _begin_again(self) -> None:
        """Put src/ and tests/ back to what they were at first; all stays in history."""
        self._files.take_changes()
        fresh = {
            "started_at": now(),
            "documents": self._project.digests(),
            "retries": {},
            "iterations": 0,
            "rules_broken": 0,
            "cost_usd": 0.0,
            "gates": {},
            "commits": {},
            "last_failure": None,
        }
        self._files.apply(self._registry.state.start, (), **fresh)

    def undo(self, prompt_id: str) -> list[str]:
        """Take a step back, and all after it; return the prompts that are to do again.

        Raises:
            ProjectError: The prompt is not complete.
        """
        state = self._registry.state
        if prompt_id not in state.commits:
            done = ", ".join(state.completed) or "none"
            raise ProjectError(
                self._registry.path,
                f"{prompt_id} is not complete, so it cannot be undone; complete: "
                f"{done}",
            )
        index = state.completed.index(prompt_id)
        kept, undone = state.completed[:index], state.completed[index:]
        before = self._files.history.parent(state.commits[prompt_id])
        self._files.apply(
            before,
            kept,
            commits=_without(state.commits, undone),
            gates=_without(state.gates, undone),
            retries=_without(state.retries, undone),
            last_failure=None,
        )
        self._tell("build.undone", prompts=undone, commit=before)
        return undone


def check_documents(project: Project, state: BuildState) -> None:
    """See to it that no document has changed since the build began.

    Raises:
        BuildStopped: One has.
    """
    known, found = state.documents, project.digests().items()
    changed = [name for name, digest in found if known.get(name) != digest]
    if changed:
        places = ", ".join(relative(project.path / name) for name in changed)
        many = len(changed) > 1
        raise BuildStopped(
            "rule",
            f"{places} changed since the build began, and no document may: what "
            "was built so far was built by what stood there then",
            f"put {'them' if many else 'it'} back; or begin again with "
            f"{'them' if many else 'it'} as {'they are' if many else 'it is'}: "
            f"codegenie build {relative(project.path)} --from-scratch",
        )


def _without(table: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}
