"""What a dataset is: somebody's format, read one by one, as drafts of cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import Protocol

from pytest_codegenie.models import Difficulty
from pytest_codegenie.models import Disposition
from pytest_codegenie.models import Record
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


_MAX_CASE_ID = 128


class DatasetOptions(Record):
    """Base of what a format takes by ``--option KEY=VALUE``; this one takes nothing."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a dataset, as it stands there."""

    #: As the dataset calls it: ``HumanEval/0``.
    instance_id: str
    #: Where a person finds it: ``rows.jsonl, line 12``.
    place: str
    #: A row, or what else the format is made of; it can be pickled.
    data: Any


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file of a case."""

    #: What it holds, or a file of this machine that is copied.
    data: bytes | Path
    executable: bool = False


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """All that an instance says of the case that it becomes.

    What an importer adds is the same for every format: identity, dates, canary, origin
    and digest.
    """

    case_id: str
    #: As the dataset calls it.
    instance_id: str
    task: TaskFile
    tests: TestsFile
    #: ``input/problem.md``: what the agent is told.
    problem: str
    #: ``input/hints.md``; "": there is none.
    hints: str = ""
    #: ``expected/gold.patch``; "": there is none.
    gold_patch: str = ""
    #: ``expected/test.patch``; "": there is none.
    test_patch: str = ""
    #: More files, by POSIX path relative to the case: ``input/repo/solution.py``,
    #: ``expected/overlay/test_solution.py``.
    files: Mapping[str, FileContent] = field(default_factory=dict)
    disposition: Disposition = "positive"
    difficulty: Difficulty = "medium"
    tags: tuple[str, ...] = ()
    #: Of the upstream repository; "": unknown.
    commit_sha: str = ""
    #: Of the whole case; None: the run's own.
    timeout_seconds: float | None = None
    #: What else is worth recording of where it comes from, such as its licence: TOML
    #: keys of ``expected/origin.toml``.
    origin: Mapping[str, str] = field(default_factory=dict)


class Dataset(Protocol):
    """Reads one format. It starts no process and runs nothing that it reads."""

    #: As in ``codegenie import FORMAT``.
    name: str
    #: One line for ``codegenie list datasets``: what it reads.
    summary: str

    @property
    def options_type(self) -> type[DatasetOptions]:
        """What ``--option`` takes: pydantic fields with defaults."""
        ...

    def instances(self, source: str, options: Any) -> Iterator[Instance]:
        """Yield the instances in the order of the source, a few in memory at a time.

        Args:
            source: A file or directory, or whatever else the format can be found by.
            options: An ``options_type``.

        Raises:
            DatasetError: The source is missing or is not of this format; the error
                names file and line.
        """
        ...

    def draft(self, instance: Instance, options: Any) -> CaseDraft:
        """Return the draft of the case that an instance becomes.

        Always the same for the same instance and options. May be called in another
        process, in any order.

        Raises:
            DatasetError: The instance cannot become a case; the error names its place,
                the key and the remedy.
        """
        ...


def case_id_of(instance_id: str) -> str:
    """Return an instance's id as a case's: what a case may not have becomes ``-``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", instance_id).lstrip("._-")[:_MAX_CASE_ID]
