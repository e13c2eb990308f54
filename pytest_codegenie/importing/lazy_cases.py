"""Cases of a dataset that is run as it is: known to all, written when one is to run.

Of each case an index has what a session has to know, and where its files stand in a
second file. Both are made once from a source; see ``lazy_index``.
"""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_codegenie.datasets import FileContent
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import hash_tree
from pytest_codegenie.importing.case_files import write_files
from pytest_codegenie.models import BenchCase
from pytest_codegenie.workspaces.locks import exclusive


#: In the directory of a dataset's index: the files of all cases, a line each.
DRAFTS = "drafts.jsonl"
#: In the same directory: where cases are written before they have their place.
_SCRATCH = ".writing"


@dataclass(frozen=True, slots=True)
class LazyCase:
    """One case, which may not be written yet."""

    #: Its ``directory`` is where it will be.
    case: BenchCase
    #: As the dataset calls it.
    instance_id: str
    #: Of its tests; None: as long as the agent has.
    tests_timeout_seconds: float | None
    #: An environment has to be built for it.
    needs_setup: bool
    #: Of its files in ``DRAFTS``, in bytes.
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class LazyDataset:
    """The cases that a dataset file comes to, in the order of the source."""

    #: The dataset file.
    path: Path
    #: Where its index is; the task class is below it.
    directory: Path
    #: Of the task class.
    name: str
    cases: tuple[LazyCase, ...]
    #: What else has the answers in it, and no agent may see.
    source: Path

    @property
    def task_class(self) -> Path:
        """The directory of the task class."""
        return self.directory / self.name

    def provide(self, lazy: LazyCase) -> None:
        """Write a case's directory, if it is not there already as it has to be.

        Any number of processes may do it at once.

        Raises:
            DatasetError: What it is made of changed since the index was made.
            OSError: It cannot be written.
        """
        directory = lazy.case.directory
        if _digest(directory) == lazy.case.case_digest:
            return
        scratch = self.directory / _SCRATCH
        scratch.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=scratch) as name:
            made = Path(name, "case")
            files = self._files(lazy)
            write_files(made, files)
            if _digest(made) != lazy.case.case_digest:
                raise self._changed(lazy, files)
            with exclusive(scratch / ".lock"):
                _take_place(made, directory, Path(name, "before"))

    def _files(self, lazy: LazyCase) -> dict[str, FileContent]:
        with (self.directory / DRAFTS).open("rb") as file:
            file.seek(lazy.offset)
            line = file.read(lazy.size)
        try:
            return unpack(json.loads(line))
        except (LookupError, TypeError, ValueError, AttributeError):
            return {}  # it was written by nobody of us, and has no digest of ours

    def _changed(
        self, lazy: LazyCase, files: Mapping[str, FileContent]
    ) -> DatasetError:
        """Return the error for files that are not those of the index."""
        outside = [one.data for one in files.values() if isinstance(one.data, Path)]
        if outside:
            what = ", ".join(map(relative, outside[:3]))
            reason = f"{what}: changed since the run began; run again"
        else:
            what = relative(self.directory)
            reason = f"what is kept of it in {what} is damaged; remove that directory"
        return DatasetError(relative(self.path), lazy.instance_id, reason)


def pack(files: Mapping[str, FileContent]) -> dict[str, dict[str, Any]]:
    """Return files as JSON has them; ``unpack`` is the way back."""
    return {name: _packed(content) for name, content in files.items()}


def unpack(packed: Mapping[str, Mapping[str, Any]]) -> dict[str, FileContent]:
    """Return the files that ``pack`` was given.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: It is no such thing.
    """
    return {
        name: FileContent(_data(entry), executable=entry.get("executable", False))
        for name, entry in packed.items()
    }


def _packed(content: FileContent) -> dict[str, Any]:
    mode = {"executable": True} if content.executable else {}
    if isinstance(content.data, Path):
        return {"path": str(content.data.absolute()), **mode}
    try:
        return {"text": content.data.decode(), **mode}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content.data).decode(), **mode}


def _data(entry: Mapping[str, Any]) -> bytes | Path:
    if "path" in entry:
        return Path(entry["path"])
    if "text" in entry:
        return str(entry["text"]).encode()
    return base64.b64decode(entry["base64"])


def _digest(directory: Path) -> str:
    """Return the digest of a case that may not be there; "" where it has none."""
    try:
        return hash_tree(directory).digest
    except (FileNotFoundError, NotADirectoryError, UnhashableEntryError):
        return ""


def _take_place(made: Path, directory: Path, before: Path) -> None:
    """Move a directory to its place; who comes second keeps what the first has made."""
    if directory.exists() or directory.is_symlink():
        if _digest(directory) == _digest(made):
            return
        directory.rename(before)  # somebody has changed it
    made.rename(directory)
