"""What an agent at work needs around it, whether it works on a case or on a step."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Protocol

from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.spending import Spending
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class SolutionProgram:
    """A reference solution that is a program instead of a patch."""

    directory: Path
    command: Sequence[str]


class AgentRoom(Protocol):
    """Scratch, workspaces, a clock, and what the agent is to do."""

    #: A directory of the host.
    scratch: Path
    #: Whatever is written goes through it.
    redactor: Redactor
    #: Told what the agent uses.
    progress: Progress

    @property
    def agent_spec(self) -> AgentSpec:
        """Who works."""
        ...

    @property
    def agent_table(self) -> Mapping[str, str]:
        """All agents, by name."""
        ...

    @property
    def agent_seconds(self) -> float:
        """What the agent has, where it has no limit of its own."""
        ...

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Variables whose values are written nowhere."""
        ...

    @property
    def workspace_name(self) -> str:
        """As in ``--codegenie-workspace``."""
        ...

    @property
    def instance(self) -> EvalInstance:
        """What the agent is to do, with the answers."""
        ...

    @property
    def solution(self) -> SolutionProgram | None:
        """The program that is the answer; None: there is a patch, or nothing."""
        ...

    def new_spending(self) -> Spending:
        """Return what counts the cost of one start of the agent."""
        ...

    def timed(self, phase: str) -> contextlib.AbstractContextManager[None]:
        """Name the phase that the block is, and add up the time it takes."""
        ...

    def workspace(
        self, base: Base, name: str, **access: Any
    ) -> contextlib.AbstractContextManager[Workspace]:
        """Make a workspace for the block."""
        ...

    def artifact(self, name: str) -> Path | None:
        """Return where an artifact goes and record that it exists."""
        ...

    def write_artifact(self, name: str, content: str | bytes) -> None:
        """Write an artifact; on a full disk, only say so in the log."""
        ...

    def keep_artifact(self, name: str, file: Path) -> None:
        """Copy a file to an artifact; on a full disk, only say so in the log."""
        ...
