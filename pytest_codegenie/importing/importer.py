"""Importing a dataset: its instances become signed cases of a task class."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from pytest_codegenie.datasets import Dataset
from pytest_codegenie.datasets import Instance
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import printable
from pytest_codegenie.importing.drafting import Answer
from pytest_codegenie.importing.drafting import prepare_all
from pytest_codegenie.importing.origin import origin_of
from pytest_codegenie.importing.placing import Shelf
from pytest_codegenie.importing.preparing import Job
from pytest_codegenie.importing.preparing import Prepared
from pytest_codegenie.importing.preparing import draft_of
from pytest_codegenie.importing.selecting import Selection
from pytest_codegenie.importing.task_class import alone_in
from pytest_codegenie.importing.task_class import make_task_class


def _ignore(*_: Any) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whom an import tells how it goes."""

    #: After each instance: counts by state, ``failed`` among them.
    counted: Callable[[Mapping[str, int]], None] = _ignore
    #: For each instance that is not imported, as soon as it is known.
    failed: Callable[[DatasetError], None] = _ignore
    #: Once, if another import has the task class, and this one has to wait.
    waiting: Callable[[], None] = _ignore


@dataclass(slots=True)
class ImportResult:
    """What an import came to; it is filled as it goes."""

    directory: Path
    #: Instances by what became of them: ``new``, ``replaced``, ``kept`` (the case is
    #: there already), ``differs`` (it is there, and is another one), ``failed``.
    counts: Counter[str] = field(default_factory=Counter)
    #: Of the instances that are ``failed`` or ``differs``, in the dataset's order.
    errors: list[DatasetError] = field(default_factory=list)

    @property
    def imported(self) -> int:
        """Return how many instances are signed cases now."""
        return self.counts["new"] + self.counts["replaced"] + self.counts["kept"]


def import_dataset(
    dataset: Dataset,
    source: str,
    options: Any,
    into: Path,
    *,
    limit: int | None = None,
    select: Sequence[str] = (),
    jobs: int = 1,
    day: dt.date,
    replace: bool = False,
    watcher: Watcher | None = None,
    result: ImportResult | None = None,
) -> ImportResult:
    """Write and sign a case for each instance of a dataset.

    It can be killed at any time: what is there then are whole cases, and the same call
    goes on. Whatever ends it otherwise, the cases that are there are signed. The same
    input gives the same bytes, whatever ``jobs`` is.

    Args:
        dataset: The format.
        source: A file or directory, or what else the format finds it by.
        options: Of the format, its ``options_type``.
        into: Directory of a task class; made where it is not there.
        limit: At most so many instances; None: all.
        select: Shell patterns over instance ids and case ids; none: all.
        jobs: How many processes write cases.
        day: What new cases have as their dates.
        replace: Whether a case that is there and differs is written anew.
        watcher: Whom to tell how it goes.
        result: Filled as it goes, for who wants to see it if this raises.

    Raises:
        DatasetError: The dataset cannot be read, or not to its end, or is empty.
        ConfigError: A pattern of ``select`` matches nothing.
        TaskClassIncomplete: ``into`` is there and is no task class.
        ScaffoldError: Its name is none for a task class.
        BenchCaseLoadError: The task class's ``digests.yaml`` cannot be used.
        OSError: A case cannot be written.
    """
    into = into.absolute()
    watcher = watcher or Watcher()
    result = result or ImportResult(into)
    selection = Selection(select, limit)
    found = iter(selection.among(dataset.instances(source, options)))
    found = _from_the_first_good(dataset, found, options, result, watcher)
    first = next(found, None)
    if first is not None:
        path = Path(source)
        root = path if path.is_dir() else path.parent
        origin = origin_of(dataset.name, source, options)
        make_task_class(into, dataset.name, origin["source"])
        cases = into / "cases"
        job = Job(dataset, options, cases, into.name, origin, day, root, replace)
        with alone_in(into, watcher.waiting):
            _import(job, itertools.chain([first], found), jobs, result, watcher)
    selection.refuse_unmatched()
    if not result.counts:
        raise DatasetError(
            printable(source), "", "holds no instance; nothing can be imported"
        )
    return result


def _from_the_first_good(
    dataset: Dataset,
    instances: Iterator[Instance],
    options: Any,
    result: ImportResult,
    watcher: Watcher,
) -> Iterator[Instance]:
    """Yield the instances from the first on that can become a case.

    So a file that is of another kind leaves no empty task class behind.
    """
    for instance in instances:
        try:
            draft_of(dataset, instance, options)
        except DatasetError as exc:
            _count(exc, result, watcher)
            continue
        yield instance
        break
    yield from instances


def _import(
    job: Job,
    instances: Iterable[Instance],
    processes: int,
    result: ImportResult,
    watcher: Watcher,
) -> None:
    shelf = Shelf(job.cases_dir)
    try:
        with closing(prepare_all(job, instances, processes)) as answers:
            for answer in answers:
                _count(_placed(shelf, answer), result, watcher)
    finally:
        # Whatever ended it: what is in its place is whole, and ours.
        shelf.sign()
        shelf.remove_staged()


def _placed(shelf: Shelf, answer: Answer) -> Answer:
    if isinstance(answer, DatasetError):
        return answer
    try:
        return shelf.put(answer)
    except DatasetError as exc:
        return exc


def _count(answer: Answer, result: ImportResult, watcher: Watcher) -> None:
    if isinstance(answer, Prepared):
        result.counts[answer.state] += 1
        error = _difference(answer) if answer.state == "differs" else None
    else:
        result.counts["failed"] += 1
        error = answer
    if error is not None:
        result.errors.append(error)
        watcher.failed(error)
    watcher.counted(result.counts)


def _difference(case: Prepared) -> DatasetError:
    names = ", ".join(case.differs[:5]) + (" ..." if len(case.differs) > 5 else "")
    return DatasetError(
        case.place,
        "",
        f"the case {case.case_id!r} is there already and is another one ({names}); "
        "--replace writes it anew",
    )
