"""The room that one run of a case has: scratch, workspaces, a clock."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.harness.agent_room import SolutionProgram
from pytest_codegenie.harness.artifacts import Artifacts
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.harness.spending import Spending
from pytest_codegenie.logs import emit
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.task_files import image_directory
from pytest_codegenie.trees import add_tree
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import HasImages
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces import provide_source
from pytest_codegenie.workspaces import remove_tree


class CaseRoom(Artifacts):
    """What all phases of a run of a case share."""

    def __init__(self, job: CaseJob, task: CaseTask) -> None:
        super().__init__(job)
        self.task = task
        #: Of the run; it does not exist before ``open``.
        self.scratch = Path()
        #: The phase that runs, or ran last.
        self.phase = "prepare"
        #: Told of phases, and of what the agent uses as far as it is known.
        self.progress = Progress(job.progress_path)
        #: Phase to seconds.
        self.timings: dict[str, float] = {}
        #: What the case's code runs with; known once there is a base.
        self.environment = Environment("")
        #: Installed beside what the case asks for, for tools that look at its code.
        self.packages: tuple[str, ...] = ()

    @property
    def agent_spec(self) -> AgentSpec:
        """Who works."""
        return self.job.agent

    @property
    def agent_table(self) -> Mapping[str, str]:
        """All agents, by name."""
        return self.job.parts.agents

    @property
    def agent_seconds(self) -> float:
        """What the agent has, where it has no limit of its own."""
        return self.job.agent_limit_seconds

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Variables whose values are written nowhere."""
        return self.job.secret_names

    @property
    def workspace_name(self) -> str:
        """As in ``--codegenie-workspace``."""
        return self.job.workspace

    @property
    def instance(self) -> EvalInstance:
        """What the agent is to do, with the answers."""
        return self.task.instance

    @property
    def solution(self) -> SolutionProgram | None:
        """The program that is the answer; None: there is a patch, or nothing."""
        directory = self.task.solution
        if directory is None:
            return None
        return SolutionProgram(directory, self.task.tests.solution)

    def new_spending(self) -> Spending:
        """Return what counts the cost of the agent."""
        return Spending(self.job, self.scratch / "end-the-agent")

    def open(self) -> None:
        """Make the scratch directory.

        Raises:
            WorkspaceUnavailable: It cannot be made.
        """
        root = self.job.scratch_root
        try:
            self.scratch = Path(tempfile.mkdtemp(prefix="codegenie-", dir=root))
        except OSError as exc:
            place = root or tempfile.gettempdir()
            raise WorkspaceUnavailable(
                f"no directory for workspaces can be made in {place}: {exc.strerror}"
            ) from exc

    def make_base(self) -> Base:
        """Make what the case starts from, and what its code runs with.

        Raises:
            WorkspaceUnavailable: There is no such code, or no way to run it here.
        """
        directory = image_directory(self.task.task.repository.source)
        tree = self._source() if directory is None else self.scratch / "image"
        setup = self._new_workspace("setup")
        try:
            recipe = make_recipe(self.task, self.job.case, tree)
            recipe = dataclasses.replace(recipe, packages=self.packages)
            if directory is None:
                self.environment = setup.provide(recipe)
            else:
                self.environment = self._from_image(setup, recipe, directory)
        finally:
            setup.destroy()
        if self.environment.generated is not None:
            source, tree = tree, self.scratch / "installed"
            copy_tree(source, tree)
            add_tree(self.environment.generated, tree)
        return make_base(tree, self.scratch / "base.git")

    def _source(self) -> Path:
        return provide_source(
            self.task.task.repository,
            self.job.case.input_dir,
            self._cache,
            seconds=self.job.setup_seconds,
        )

    def _from_image(
        self, setup: Workspace, recipe: Recipe, directory: str
    ) -> Environment:
        """Take the tree from the image that programs are run in."""
        source = self.task.task.repository.source
        if not isinstance(setup, HasImages):
            raise WorkspaceUnavailable(
                f"input/task.toml: repository.source: {source!r} is a directory of the "
                f"case's image, and the workspace {setup.name!r} has no images; use "
                "--codegenie-workspace docker"
            )
        if recipe.install != "none":
            raise WorkspaceUnavailable(
                f"input/task.toml: environment.install: with repository.source = "
                f"{source!r} it has to be 'none': install in the case's Dockerfile"
            )
        return setup.take_tree(setup.provide(recipe), directory, recipe.tree)

    @property
    def _cache(self) -> Path:
        """Return where environments and fetched code are kept."""
        return self.job.cache_directory or self.scratch / "cache"

    @contextlib.contextmanager
    def workspace(self, base: Base, name: str, **access: Any) -> Iterator[Workspace]:
        """Make a workspace in ``<scratch>/<name>`` for the block.

        It is there afterwards only where workspaces may be kept.

        Args:
            base: What it holds.
            name: Of its directory.
            access: ``endpoints`` and ``readable`` of ``WorkspaceSpec``.

        Raises:
            WorkspaceUnavailable: It cannot be made.
        """
        workspace = self._new_workspace(name, **access)
        try:
            workspace.prepare(base, self.environment)
            yield workspace
        finally:
            if self.job.keep == "never":
                workspace.destroy()

    def _new_workspace(self, name: str, **access: Any) -> Workspace:
        job = self.job
        bench = job.case.directory.parent.parent.parent
        hidden = (bench, job.run_directory, *job.hidden)
        return new_workspace(
            job.workspace,
            job.parts.workspaces,
            WorkspaceSpec(
                directory=self.scratch / name,
                cache=self._cache,
                limits=job.limits,
                sandbox=job.sandbox,
                docker=job.docker,
                hidden=tuple(path.resolve() for path in hidden if path is not None),
                setup_seconds=job.setup_seconds,
                run_id=job.run_id,
                **access,
            ),
        )

    def keep(self) -> str:
        """Move the workspaces to the other artifacts; return where they are."""
        known = self.artifacts
        self.redactor.tree(self.scratch)
        try:
            target = self.artifact("workspaces")
            if target and not target.exists():
                return str(shutil.move(self.scratch, target))
        except (OSError, shutil.Error) as exc:
            emit("harness.artifact_lost", level="warning", file="", reason=str(exc))
        self.artifacts = known
        return str(self.scratch)

    @contextlib.contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Name the phase that the block is, and add up the time it takes."""
        self.phase = phase
        self.progress.enter(phase)
        started = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - started
            self.timings[phase] = self.timings.get(phase, 0.0) + spent

    def close(self) -> None:
        """Remove the scratch directory. Never raises."""
        if self.scratch != Path():
            remove_tree(self.scratch)


def new_workspace(
    name: str, table: Mapping[str, str], spec: WorkspaceSpec
) -> Workspace:
    """Return a workspace that is configured; its directory is made.

    Args:
        name: As in ``--codegenie-workspace``.
        table: All workspaces, by name.
        spec: What is asked of it.

    Raises:
        WorkspaceUnavailable: There is none of that name, or it cannot give that.
    """
    try:
        workspace: Workspace = make_part("workspace", name, table)
    except UnknownPartError as exc:
        raise WorkspaceUnavailable(str(exc)) from exc
    spec.directory.mkdir()
    workspace.configure(spec)
    return workspace


def make_recipe(task: CaseTask, case: BenchCase, tree: Path) -> Recipe:
    """Return what decides on the environment of a case whose code is in ``tree``."""
    install = task.task.environment.install
    places = (case.input_dir, case.input_dir / "environment")
    dockerfiles = (place / "Dockerfile" for place in places)
    return Recipe(
        tree=tree,
        repository=task.task.repository.name,
        python=task.task.environment.python,
        install=tuple(install) if isinstance(install, list) else install,
        image=task.task.environment.image,
        dockerfile=next(filter(Path.is_file, dockerfiles), None),
    )
