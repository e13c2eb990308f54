"""The index of a dataset that is run as it is: made once, then read by every session.

``<cache>/datasets/.<key>/`` has ``index.jsonl`` (a line that says what it is, then one
for each case), ``drafts.jsonl`` (the files of the cases) and the task class, into whose
``cases/`` a case is written when it is to run. The key is of all that decides what is
in there. A hidden directory, so that nobody collects from it.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import IO

from pytest_codegenie.corpus import hash_task_class
from pytest_codegenie.datasets import Dataset
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import hash_file
from pytest_codegenie.hashing import hash_for
from pytest_codegenie.importing.converting import Converted
from pytest_codegenie.importing.converting import convert
from pytest_codegenie.importing.dataset_file import DatasetFile
from pytest_codegenie.importing.dataset_file import check_source
from pytest_codegenie.importing.drafting import answer_all
from pytest_codegenie.importing.lazy_cases import DRAFTS
from pytest_codegenie.importing.lazy_cases import LazyCase
from pytest_codegenie.importing.lazy_cases import LazyDataset
from pytest_codegenie.importing.lazy_selection import selected
from pytest_codegenie.importing.origin import origin_of
from pytest_codegenie.importing.preparing import Job
from pytest_codegenie.importing.task_class import make_task_class
from pytest_codegenie.models import BenchCase
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces.locks import exclusive


#: Of a run store's cache: where all indexes are.
DIRECTORY = "datasets"
INDEX = "index.jsonl"
_KEY = "pytest-codegenie 2026-11-22 index of a dataset file, version 1"
_BODY = "pytest-codegenie 2026-11-22 lines of an index of a dataset file, version 1"
_VERSION = 1
#: Of faulty instances: more of them are not told.
_MAX_FAULTS = 20
#: Instances that are converted in less time than processes take to begin.
_FEW = 256


class DatasetFaults(Exception):
    """Instances of a dataset file that cannot become cases, one error each."""

    def __init__(self, errors: Sequence[DatasetError]) -> None:
        super().__init__(tuple(errors))
        self.errors = tuple(errors)


@dataclass(frozen=True, slots=True)
class Reading:
    """A dataset file, and all that is needed to read its source."""

    file: DatasetFile
    dataset: Dataset
    options: DatasetOptions
    #: Of the run store; indexes are below it.
    cache: Path
    #: Digest of the code that makes drafts and cases.
    code: str
    #: How many may convert instances.
    processes: int = 1

    @property
    def directory(self) -> Path:
        """Where the index is, or will be."""
        told = {
            "table": self.file.table.model_dump(mode="json"),
            "name": self.file.name,
            "options": self.options.model_dump(mode="json"),
            "option files": _digests_of_files(self.options),
            # Cases may have its files in them, by their paths.
            "source": os.path.realpath(self.file.source),
            "code": self.code,
        }
        digest = hash_for(_KEY, json.dumps(told, sort_keys=True).encode())
        return self.cache / DIRECTORY / f".{digest.partition(':')[2][:32]}"


def open_dataset(
    reading: Reading, progress: Callable[[int], None] = lambda count: None
) -> LazyDataset:
    """Return the cases of a dataset file; make the index if there is none yet.

    Args:
        reading: The dataset file.
        progress: Told how many instances have been read.

    Raises:
        DatasetError: The source is not what it was; or nothing of it is selected.
        DatasetFaults: Instances cannot become cases.
        OSError: The index cannot be written.
    """
    check_source(reading.file)
    directory = reading.directory
    known = read_index(reading.file.path, directory)
    if known is not None:
        return known
    # One process makes it, the others wait.
    with exclusive(directory.with_name(f"{directory.name}.lock")):
        known = read_index(reading.file.path, directory)
        if known is not None:
            return known
        _make(reading, directory, progress)
    made = read_index(reading.file.path, directory)
    assert made is not None, "what was just written can be read"
    return made


def read_index(path: Path, directory: Path) -> LazyDataset | None:
    """Return the cases of an index; None where there is none that can be used.

    Args:
        path: The dataset file.
        directory: Where the index is.
    """
    try:
        first, _, body = (directory / INDEX).read_bytes().partition(b"\n")
        header = json.loads(first)
        task_class = directory / header["name"]
        if (
            header["version"] != _VERSION
            or header["digest"] != hash_for(_BODY, body)
            or header["rubric"] != hash_task_class(task_class)
        ):
            return None
        cases = tuple(_lazy_cases(body, task_class / "cases"))
        return LazyDataset(
            path, directory, header["name"], cases, Path(header["source"])
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _lazy_cases(body: bytes, cases_dir: Path) -> Iterator[LazyCase]:
    for line in body.splitlines():
        values = json.loads(line)
        values["case"]["directory"] = cases_dir / values["case"]["case_id"]
        values["case"] = BenchCase.model_validate(values["case"])
        yield LazyCase(**values)


def _make(reading: Reading, directory: Path, progress: Callable[[int], None]) -> None:
    """Write the index beside its place, then move it there."""
    fresh = directory.with_name(f"{directory.name}.new")
    remove_tree(fresh)  # of a session that was killed over it
    fresh.mkdir(parents=True)
    try:
        _write(reading, fresh, progress)
        # What was read may not be what was looked at.
        check_source(reading.file)
        remove_tree(directory)  # one that cannot be used
        fresh.rename(directory)
    finally:
        remove_tree(fresh)


def _write(reading: Reading, directory: Path, progress: Callable[[int], None]) -> None:
    file = reading.file
    task_class = directory / file.name
    make_task_class(task_class, file.table.format, file.table.source)
    with (directory / DRAFTS).open("wb") as drafts:
        writer = _Writer(relative(file.path), drafts)
        try:
            with closing(_converted(reading, _job(reading, task_class))) as answers:
                for count, answer in enumerate(answers, 1):
                    writer.add(answer)
                    progress(count)
        except DatasetError as exc:
            # The source cannot be read on.
            raise DatasetFaults([*writer.faults, exc]) from exc
    if writer.faults:
        raise DatasetFaults(writer.faults)
    body = b"".join(writer.lines)
    header = {
        "version": _VERSION,
        "name": file.name,
        "source": str(file.source),
        "rubric": hash_task_class(task_class),
        "digest": hash_for(_BODY, body),
    }
    (directory / INDEX).write_bytes(json.dumps(header).encode() + b"\n" + body)


def _converted(
    reading: Reading, job: Job
) -> Generator[Converted | DatasetError, None, None]:
    """Yield what each selected instance became; by processes where it takes long."""
    instances = selected(reading.file, reading.dataset, reading.options)
    yield from answer_all(convert, job, itertools.islice(instances, _FEW), 1)
    more = next(instances, None)
    if more is not None:
        rest = itertools.chain([more], instances)
        yield from answer_all(convert, job, rest, reading.processes)


def _job(reading: Reading, task_class: Path) -> Job:
    source = reading.file.source
    return Job(
        dataset=reading.dataset,
        options=reading.options,
        cases_dir=task_class / "cases",
        task_class=task_class.name,
        origin=origin_of(reading.dataset.name, str(source), reading.options),
        day=dt.datetime.now(dt.UTC).date(),
        root=source if source.is_dir() else source.parent,
        replace=False,
    )


@dataclass
class _Writer:
    """Takes what instances became, one by one, and writes it down."""

    #: Of the dataset file, for messages.
    place: str
    drafts: IO[bytes]
    #: Of the index.
    lines: list[bytes] = field(default_factory=list)
    faults: list[DatasetError] = field(default_factory=list)
    #: Case id, as file systems may take it, to where its instance is.
    _places: dict[str, str] = field(default_factory=dict)
    _offset: int = 0

    def add(self, answer: Converted | DatasetError) -> None:
        """Take what an instance became, or why it became nothing.

        Raises:
            DatasetFaults: There are so many of them that no more are looked for.
        """
        if isinstance(answer, Converted):
            self._write(answer)
        else:
            self.faults.append(answer)
        if len(self.faults) == _MAX_FAULTS:
            more = "there may be more; no more are looked for"
            raise DatasetFaults([*self.faults, DatasetError(self.place, "", more)])

    def _write(self, case: Converted) -> None:
        first = self._places.setdefault(case.case_id.casefold(), case.place)
        if first != case.place:
            self.faults.append(
                DatasetError(
                    case.place,
                    "instance_id",
                    f"gives the case id {case.case_id!r}, as does {first}; leave one "
                    "of them out",
                )
            )
            return
        self.drafts.write(case.files)
        values = {**case.known, "offset": self._offset, "size": len(case.files)}
        self.lines.append(json.dumps(values).encode() + b"\n")
        self._offset += len(case.files)


def _digests_of_files(options: DatasetOptions) -> dict[str, str]:
    """Return the digests of the files that options name: they decide on cases, too."""
    paths = {
        key: Path(one) for key, one in options if one and isinstance(one, str | Path)
    }
    return {key: hash_file(path) for key, path in paths.items() if path.is_file()}
