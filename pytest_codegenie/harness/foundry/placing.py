"""Putting a commit's files into the project, so that it can be done again at any time.

A file is written beside the project's own and moved into place. Whoever is killed in
between leaves each file as it was or as it is to be; doing all of it again gives the
same. A file that is neither is the user's: it is kept in the history first.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.documents import sync_directory
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.history import Difference
from pytest_codegenie.harness.foundry.history import History
from pytest_codegenie.harness.foundry.records import AREAS
from pytest_codegenie.trees import remove_tree


class Placing:
    """Makes src/ and tests/ of a project what a commit has.

    Args:
        project: The project's directory.
        work: Ours in it, on the same file system.
        history: Has the commits.
    """

    def __init__(self, project: Path, work: Path, history: History) -> None:
        self._project = project
        self._temporary = work / "tmp"
        self._history = history

    def strangers(self, before: str | None, after: str) -> list[str]:
        """Return the files that would be overwritten and are of neither commit.

        Args:
            before: What the project should hold, or did; None: nobody knows.
            after: What it is to hold.
        """
        return [
            one.path
            for one in self._differences(before, after)
            if self._blob_of(one) not in (one.before, one.after)
        ]

    def place(self, before: str | None, after: str) -> None:
        """Write what differs; what only the earlier commit has is removed.

        Raises:
            OSError: A file cannot be written; the others may be.
        """
        remove_tree(self._temporary)
        self._temporary.mkdir(parents=True)
        differences = self._differences(before, after)
        for one in differences:
            if self._blob_of(one) != one.after or self._mode_differs(one):
                self._place_one(one)
        for directory in {(self._project / one.path).parent for one in differences}:
            if directory.is_dir():
                sync_directory(directory)

    def _differences(self, before: str | None, after: str) -> Sequence[Difference]:
        first = before or self._history.tree_of(after)
        found = self._history.differences(first, after)
        # The documents, and what else lies beside, are the user's alone.
        return [one for one in found if one.path.split("/")[0] in AREAS]

    def _place_one(self, one: Difference) -> None:
        target = self._project / one.path
        if not one.after:
            target.unlink(missing_ok=True)
            return
        self._make_parents(target)
        temporary = self._temporary / secrets.token_hex(8)
        self._history.blob(one.after, temporary)
        with temporary.open("rb") as file:
            os.fchmod(file.fileno(), 0o755 if one.is_program else 0o644)
            os.fsync(file.fileno())
        temporary.replace(target)

    def _make_parents(self, target: Path) -> None:
        """Make the directories of a file; none of them may be a link to elsewhere."""
        here = self._project
        for part in target.relative_to(self._project).parts[:-1]:
            here /= part
            if here.is_symlink() or (here.exists() and not here.is_dir()):
                raise ProjectError(here, "is in the way: it has to be a directory")
            if not here.exists():
                here.mkdir()
                sync_directory(here.parent)

    def _blob_of(self, one: Difference) -> str:
        """Return the name that git has for a file's content; "" for no file."""
        path = self._project / one.path
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                return "no file"
            data = path.read_bytes()
        except OSError:
            return ""
        digest = hashlib.sha1(usedforsecurity=False)
        digest.update(b"blob %d\0" % len(data))
        digest.update(data)
        return digest.hexdigest()

    def _mode_differs(self, one: Difference) -> bool:
        path = self._project / one.path
        if not one.after or not path.is_file():
            return False
        return bool(path.stat().st_mode & stat.S_IXUSR) != one.is_program
