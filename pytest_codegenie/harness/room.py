"""The room that one run of a case has: scratch, workspaces, artifacts, a clock."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.corpus import CaseTask
from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.logs import emit
from pytest_codegenie.models import CaseJob
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import fetch_tree
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces import remove_tree


class CaseRoom:
    """What all phases of a run of a case share."""

    def __init__(self, job: CaseJob, task: CaseTask) -> None:
        self.job = job
        self.task = task
        #: Of the run; it does not exist before ``open``.
        self.scratch = Path()
        #: The phase that runs, or ran last.
        self.phase = "prepare"
        #: Phase to seconds.
        self.timings: dict[str, float] = {}
        #: Name to path below the run's directory.
        self.artifacts: dict[str, str] = {}

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
        """Make what the case starts from.

        Raises:
            WorkspaceUnavailable: There is no such code, or no way to run it here.
        """
        self._check_environment()
        case, repository = self.job.case, self.task.task.repository
        tree = case.input_dir / repository.source
        if not tree.is_dir():
            source = str(tree) if tree.exists() else repository.source
            if not repository.base_commit:
                raise WorkspaceUnavailable(
                    f"input/task.toml: repository.source: {repository.source!r} is no "
                    "directory in input/; a bundle or a URL needs a base_commit"
                )
            tree = fetch_tree(source, repository.base_commit, self.scratch / "source")
        return make_base(tree, self.scratch / "base.git")

    def _check_environment(self) -> None:
        environment = self.task.task.environment
        if environment.install != "none":
            raise WorkspaceUnavailable(
                f"input/task.toml: environment.install = {environment.install!r}: "
                "this version builds no environments; a case that runs on the standard "
                'library and pytest says install = "none"'
            )
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        if environment.python not in ("", here):
            raise WorkspaceUnavailable(
                f"input/task.toml: environment.python = {environment.python!r}, but "
                f"this is Python {here}; run pytest with that interpreter"
            )

    def workspace(self, base: Base, name: str) -> Workspace:
        """Make a workspace in ``<scratch>/<name>``.

        Raises:
            WorkspaceUnavailable: It cannot be made.
        """
        try:
            workspace: Workspace = make_part(
                "workspace", self.job.workspace, self.job.parts.workspaces
            )
        except UnknownPartError as exc:
            raise WorkspaceUnavailable(str(exc)) from exc
        directory = self.scratch / name
        directory.mkdir()
        workspace.prepare(base, directory)
        return workspace

    def artifact(self, name: str) -> Path | None:
        """Return where an artifact goes and record that it exists."""
        if self.job.run_directory is None:
            return None
        relative = f"{self.job.artifacts_path}/{name}"
        path = self.job.run_directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        key = name.partition(".")[0]
        self.artifacts = self.artifacts | {key: relative}
        return path

    def write_artifact(self, name: str, text: str) -> None:
        """Write an artifact; on a full disk, only say so in the log.

        The result itself is recorded elsewhere, by whoever asked for it.
        """
        known = self.artifacts
        try:
            path = self.artifact(name)
            if path is not None:
                path.write_bytes(text.encode(errors="replace"))
        except OSError as exc:
            self.artifacts = known
            emit("harness.artifact_lost", level="warning", file=name, reason=str(exc))

    def keep(self) -> str:
        """Move the workspaces to the other artifacts; return where they are."""
        known = self.artifacts
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
