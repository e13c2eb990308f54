"""What a run of a case leaves in its run's directory, beside its result."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.logs import emit
from pytest_codegenie.models import CaseJob
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.redaction import find_secrets


class Artifacts:
    """The artifacts of one job."""

    def __init__(self, job: CaseJob) -> None:
        self.job = job
        #: Name to path below the run's directory.
        self.artifacts: dict[str, str] = {}
        self._made: set[Path] = set()
        #: Whatever is written goes through it.
        self.redactor = Redactor(
            find_secrets(os.environ, job.agent.env, named=job.secret_names)
        )

    def artifact(self, name: str) -> Path | None:
        """Return where an artifact goes and record that it exists."""
        if self.job.run_directory is None:
            return None
        relative = str(PurePosixPath(self.job.artifacts_path, name))
        path = self.job.run_directory / relative
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        if "/" in name:
            name = name.partition("/")[0]  # of a directory's files, the directory
            relative = str(PurePosixPath(self.job.artifacts_path, name))
        key = name.partition(".")[0]
        self.artifacts = self.artifacts | {key: relative}
        return path

    def write_artifact(self, name: str, content: str | bytes) -> None:
        """Write an artifact; on a full disk, only say so in the log.

        The result itself is recorded elsewhere, by whoever asked for it.
        """
        with self._artifact_or_warning(name) as path:
            if path is not None:
                if isinstance(content, str):
                    content = content.encode(errors="replace")
                path.write_bytes(self.redactor.data(content))

    def keep_artifact(self, name: str, file: Path) -> None:
        """Copy a file to an artifact; on a full disk, only say so in the log."""
        with self._artifact_or_warning(name) as path:
            if path is not None:
                path.write_bytes(self.redactor.data(file.read_bytes()))

    @contextlib.contextmanager
    def _artifact_or_warning(self, name: str) -> Iterator[Path | None]:
        known = self.artifacts
        try:
            yield self.artifact(name)
        except OSError as exc:
            self.artifacts = known
            emit("harness.artifact_lost", level="warning", file=name, reason=str(exc))
