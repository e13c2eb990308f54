"""The dataset files of a session: found, opened once, known to all of its processes."""

from __future__ import annotations

import fnmatch
import json
import os
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.identity import module_digest
from pytest_codegenie.harness.identity import own_code
from pytest_codegenie.importing.dataset_file import DatasetFile
from pytest_codegenie.importing.dataset_file import is_dataset_file
from pytest_codegenie.importing.dataset_file import make_format
from pytest_codegenie.importing.dataset_file import read_dataset_file
from pytest_codegenie.importing.lazy_cases import LazyDataset
from pytest_codegenie.importing.lazy_index import DatasetFaults
from pytest_codegenie.importing.lazy_index import Reading
from pytest_codegenie.importing.lazy_index import open_dataset
from pytest_codegenie.importing.lazy_index import read_index
from pytest_codegenie.models import PartTable


#: Of this package: what decides on the cases that a dataset comes to.
_MAKES_CASES = (
    "corpus",
    "datasets",
    "hashing.py",
    "importing",
    "models.py",
    "parser_names.py",
    "task_files.py",
)
#: Below it nobody is told that a dataset is being read.
_QUIET_SECONDS = 3.0

Opened = LazyDataset | Sequence[CodegenieError]


class DatasetFiles:
    """Opens dataset files, each once in a process.

    Args:
        parts: All formats are among them.
        cache: Gives the cache of the run store; which that is, is settled by then.
    """

    def __init__(self, parts: PartTable, cache: Callable[[], Path]) -> None:
        self._parts = parts
        self._cache = cache
        self._opened: dict[Path, Opened] = {}
        #: How many may convert instances: a worker of xdist is one of many.
        self.processes = 1
        #: Told what is to be said to whoever waits.
        self.say: Callable[[str], None] = lambda text: None

    def open(self, path: Path) -> Opened:
        """Return the cases of a dataset file; or all that is wrong with it."""
        if path not in self._opened:
            self._opened[path] = self._open(path)
        return self._opened[path]

    def _open(self, path: Path) -> Opened:
        try:
            file = read_dataset_file(path)
            reading = self._reading(file)
            return open_dataset(reading, _Progress(file, self.say))
        except DatasetFaults as exc:
            return exc.errors
        except CodegenieError as exc:
            return (exc,)
        except OSError as exc:
            place = Path(exc.filename or self._cache())
            reason = exc.strerror or str(exc)
            return (RunStoreError(place, f"cannot be written: {reason}"),)

    def _reading(self, file: DatasetFile) -> Reading:
        dataset, options = make_format(file, self._parts.datasets)
        module = self._parts.datasets[file.table.format].partition(":")[0]
        return Reading(
            file=file,
            dataset=dataset,
            options=options,
            cache=self._cache(),
            code=f"{own_code(*_MAKES_CASES)} {module_digest(module)}",
            processes=self.processes,
        )

    def tell(self, manifest: Path) -> None:
        """Write down for the workers of a distributed run what was opened here."""
        told = {str(path): _told(opened) for path, opened in self._opened.items()}
        write_atomically(manifest, json.dumps(told))

    def hear(self, manifest: Path) -> None:
        """Take what the controller has opened; the rest is opened here."""
        for name, told in json.loads(manifest.read_bytes()).items():
            opened = _heard(Path(name), told)
            if opened:
                self._opened[Path(name)] = opened


def dataset_files_below(
    roots: Iterable[Path], norecursedirs: Sequence[str]
) -> Iterator[Path]:
    """Yield the dataset files that collecting ``roots`` comes to.

    Args:
        roots: Files and directories.
        norecursedirs: Of pytest: patterns of directories that it leaves out.
    """
    for root in roots:
        if not root.is_dir():
            yield from [root] if is_dataset_file(root) else []
            continue
        for top, directories, files in os.walk(root):
            here = Path(top)
            if is_task_class(here):
                directories.clear()
                continue
            directories[:] = sorted(
                name
                for name in directories
                if not any(fnmatch.fnmatch(name, one) for one in norecursedirs)
            )
            yield from (here / name for name in files if is_dataset_file(Path(name)))


def _told(opened: Opened) -> dict[str, object]:
    if isinstance(opened, LazyDataset):
        return {"directory": str(opened.directory)}
    # Any other kind of error each worker comes to by itself.
    errors = [error.args for error in opened if isinstance(error, DatasetError)]
    return {"errors": errors if len(errors) == len(opened) else []}


def _heard(path: Path, told: dict[str, object]) -> Opened | None:
    if "directory" in told:
        return read_index(path, Path(str(told["directory"])))
    errors = told["errors"]
    assert isinstance(errors, list)
    return [DatasetError(*error) for error in errors]


class _Progress:
    """Says now and then how far the reading of a dataset is, if it takes long."""

    def __init__(self, file: DatasetFile, say: Callable[[str], None]) -> None:
        self._file = file
        self._say = say
        self._next = time.monotonic() + _QUIET_SECONDS

    def __call__(self, count: int) -> None:
        """Take note of how many instances have been read."""
        now = time.monotonic()
        if now > self._next:
            self._next = now + _QUIET_SECONDS
            place = relative(self._file.path)
            self._say(f"{place}: {count} instances read so far, once for all sessions")
