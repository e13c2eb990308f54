"""The rooms of a build: one for all of it, and in that one for each try."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import Protocol

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.harness.agent_room import AgentRoom
from pytest_codegenie.harness.agent_room import SolutionProgram
from pytest_codegenie.harness.foundry.project import SOLUTION
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.room import new_workspace
from pytest_codegenie.harness.spending import Spending
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.models import PartTable
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.models import SandboxSettings
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.redaction import find_secrets
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import WorkspaceSpec


class BuildRoom(AgentRoom, Protocol):
    """An ``AgentRoom`` that a whole build is in."""

    #: What src/ and tests/ run with.
    environment: Environment


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a build on a user's own project runs in; from their configuration."""

    parts: PartTable
    workspace: str = "host"
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    docker: DockerSettings = field(default_factory=DockerSettings)
    setup_seconds: float = 1800.0
    #: Where environments are kept; None: nowhere beyond the build.
    cache: Path | None = None
    #: Where the scratch directory is made; None: the system's place.
    scratch_root: Path | None = None
    secret_names: tuple[str, ...] = ()


class ProjectRoom:
    """The room of a build on a user's own project.

    Args:
        agent: Who works.
        surroundings: What it runs in.
        work: Our directory in the project.
    """

    def __init__(
        self, agent: AgentSpec, surroundings: Surroundings, work: Path
    ) -> None:
        self.agent_spec = agent
        self.agent_table: Mapping[str, str] = surroundings.parts.agents
        self.agent_seconds = math.inf
        self.secret_names = surroundings.secret_names
        self.workspace_name = surroundings.workspace
        self.instance = EvalInstance(instance_id="", repo="", problem_statement="")
        self.solution: SolutionProgram | None = None
        self.redactor = Redactor(
            find_secrets(os.environ, agent.env, named=surroundings.secret_names)
        )
        self.progress = Progress(None)
        self.environment = Environment("")
        self._surroundings = surroundings
        self._work = work
        self._solution = work.with_name(SOLUTION)
        try:
            self.scratch = Path(
                tempfile.mkdtemp(
                    prefix="codegenie-build-", dir=surroundings.scratch_root
                )
            )
        except OSError as exc:
            raise WorkspaceUnavailable(
                f"no directory for workspaces can be made: {exc}"
            ) from exc

    def provide(self, recipe: Recipe) -> None:
        """Take what a recipe gives as the environment.

        Raises:
            WorkspaceUnavailable: It cannot be built.
        """
        workspace = self._new_workspace("setup")
        try:
            self.environment = workspace.provide(recipe)
        finally:
            workspace.destroy()

    def new_spending(self) -> Spending:
        """Not asked for: each try has its own."""
        raise NotImplementedError

    @contextlib.contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Do nothing: a build tells of its phases itself."""
        yield

    @contextlib.contextmanager
    def workspace(self, base: Base, name: str, **access: Any) -> Iterator[Workspace]:
        """Make a workspace in ``<scratch>/<name>`` for the block."""
        workspace = self._new_workspace(name, **access)
        try:
            workspace.prepare(base, self.environment)
            yield workspace
        finally:
            workspace.destroy()

    def _new_workspace(self, name: str, **access: Any) -> Workspace:
        around = self._surroundings
        return new_workspace(
            around.workspace,
            around.parts.workspaces,
            WorkspaceSpec(
                directory=self.scratch / name,
                cache=around.cache or self.scratch / "cache",
                limits=around.limits,
                sandbox=around.sandbox,
                docker=around.docker,
                hidden=(self._work.resolve(), self._solution.resolve()),
                setup_seconds=around.setup_seconds,
                run_id="build",
                **access,
            ),
        )

    def artifact(self, name: str) -> Path | None:
        """Return where an artifact goes; its directory is made."""
        path = self._work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_artifact(self, name: str, content: str | bytes) -> None:
        """Write an artifact; on a full disk it is left out."""
        data = content.encode(errors="replace") if isinstance(content, str) else content
        with contextlib.suppress(OSError):
            path = self.artifact(name)
            assert path is not None
            path.write_bytes(self.redactor.data(data))

    def keep_artifact(self, name: str, file: Path) -> None:
        """Copy a file to an artifact; on a full disk it is left out."""
        with contextlib.suppress(OSError):
            self.write_artifact(name, file.read_bytes())

    def close(self) -> None:
        """Remove the scratch directory. Never raises."""
        remove_tree(self.scratch)


class TryRoom:
    """The room of one try, in that of the build.

    Args:
        room: Of the build.
        name: Of the try, such as ``P-001-2``.
        instance: What the agent is to do.
        seconds: What the agent has.
        spending: What counts its cost.
    """

    def __init__(
        self,
        room: AgentRoom,
        name: str,
        instance: EvalInstance,
        seconds: float,
        spending: Spending,
    ) -> None:
        self._room = room
        self._name = name
        self._spending = spending
        self.scratch = room.scratch / f"{name}-try"
        self.scratch.mkdir()
        self.progress = room.progress
        self.agent_spec = room.agent_spec
        self.agent_table = room.agent_table
        self.agent_seconds = min(seconds, room.agent_seconds)
        self.secret_names = room.secret_names
        self.workspace_name = room.workspace_name
        self.instance = instance
        #: A step's answer is a patch.
        self.solution: SolutionProgram | None = None

    @property
    def redactor(self) -> Redactor:
        """Whatever is written goes through it, and all that the build writes."""
        return self._room.redactor

    @redactor.setter
    def redactor(self, redactor: Redactor) -> None:
        self._room.redactor = redactor

    def new_spending(self) -> Spending:
        """Return what counts the cost of the agent."""
        return self._spending

    def timed(self, phase: str) -> contextlib.AbstractContextManager[None]:
        """Name the phase that the block is, and add up the time it takes."""
        return self._room.timed(phase)

    def workspace(
        self, base: Base, name: str, **access: Any
    ) -> contextlib.AbstractContextManager[Workspace]:
        """Make a workspace for the block."""
        return self._room.workspace(base, f"{self._name}-{name}", **access)

    def artifact(self, name: str) -> Path | None:
        """Return where an artifact of the try goes."""
        return self._room.artifact(f"tries/{self._name}/{name}")

    def write_artifact(self, name: str, content: str | bytes) -> None:
        """Write an artifact of the try."""
        self._room.write_artifact(f"tries/{self._name}/{name}", content)

    def keep_artifact(self, name: str, file: Path) -> None:
        """Copy a file to an artifact of the try."""
        self._room.keep_artifact(f"tries/{self._name}/{name}", file)
