"""The journal of a build: a line for each state that was ever written."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from pytest_codegenie.documents import sync_directory
from pytest_codegenie.harness.foundry.records import BuildState


class Journal:
    """States, one a line, the latest last; a line is durable before it is told of.

    Args:
        path: The file; it and its directory are made when they are needed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, state: BuildState) -> None:
        """Add a state.

        Raises:
            OSError: It cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        with self.path.open("ab+") as file:
            line = f"{state.to_json()}\n"
            if self._is_torn(file.fileno()):
                line = f"\n{line}"
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync_directory(self.path.parent)

    @staticmethod
    def _is_torn(fd: int) -> bool:
        size = os.fstat(fd).st_size
        return size > 0 and os.pread(fd, 1, size - 1) != b"\n"

    def last(self) -> BuildState | None:
        """Return the state of the last whole line; None: there is none."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError:
            return None
        for line in reversed(lines):
            try:
                return BuildState.from_json(line)
            except ValidationError:
                continue  # torn by a kill, or by a full disk
        return None
