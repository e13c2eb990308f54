"""Preparing many instances at a time, in processes, in the order of the dataset."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any
from typing import TypeVar

from pytest_codegenie.datasets import Instance
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.importing.preparing import Job
from pytest_codegenie.importing.preparing import Prepared
from pytest_codegenie.importing.preparing import prepare
from pytest_codegenie.processes.descendants import die_with_parent


_Result = TypeVar("_Result")
Answer = Prepared | DatasetError
#: Instances that a process takes at a time: asking it costs as much as a small draft.
_BATCH = 8
#: Batches in memory for each process: enough that none waits for the reader.
_AHEAD = 2


def prepare_all(
    job: Job, instances: Iterable[Instance], processes: int
) -> Generator[Answer, None, None]:
    """Yield what each instance became, or why it became nothing, in their order.

    The arguments are those of ``answer_all``.

    Raises:
        DatasetError: The dataset cannot be read on.
        OSError: A case cannot be written.
    """
    return answer_all(prepare, job, instances, processes)


def answer_all(
    work: Callable[[Job, Instance, int], _Result],
    job: Job,
    instances: Iterable[Instance],
    processes: int,
) -> Generator[_Result | DatasetError, None, None]:
    """Yield what is made of each instance, or why it cannot be made, in their order.

    Args:
        work: Makes it, of an instance and its number; a function of a module.
        job: The import.
        instances: A few of them are taken ahead.
        processes: How many; 1: this one.

    Raises:
        DatasetError: The dataset cannot be read on.
        OSError: ``work`` raised it, or its process was killed.
    """
    faults: list[DatasetError] = []
    numbered = enumerate(_until_fault(instances, faults))
    if processes == 1:
        for number, instance in numbered:
            yield _answer(work, job, instance, number)
    else:
        with _pool(work, job, processes) as pool:
            try:
                yield from _answers_of(pool, numbered, processes * _AHEAD)
            finally:
                pool.shutdown(cancel_futures=True)
    if faults:
        raise faults[0]


def _until_fault(
    instances: Iterable[Instance], faults: list[DatasetError]
) -> Iterator[Instance]:
    """Yield instances; a fault is kept: what was read before it is whole."""
    try:
        yield from instances
    except DatasetError as exc:
        faults.append(exc)


def _answers_of(
    pool: ProcessPoolExecutor, numbered: Iterator[tuple[int, Instance]], ahead: int
) -> Iterator[Any]:
    """Yield answers in order, a number of batches being worked on at a time."""
    waiting: deque[Future[list[Any]]] = deque()
    while batch := list(itertools.islice(numbered, _BATCH)):
        waiting.append(pool.submit(_answer_here, batch))
        if len(waiting) == ahead:
            yield from _result(waiting.popleft())
    while waiting:
        yield from _result(waiting.popleft())


def _result(future: Future[list[Any]]) -> list[Any]:
    try:
        return future.result()
    except BrokenProcessPool:
        raise OSError(
            "a process that writes cases was killed; if memory is short, --jobs 1 "
            "needs less; the same command goes on"
        ) from None


def _answer(
    work: Callable[[Job, Instance, int], _Result],
    job: Job,
    instance: Instance,
    number: int,
) -> _Result | DatasetError:
    try:
        return work(job, instance, number)
    except DatasetError as exc:
        return exc


def _pool(work: Any, job: Job, processes: int) -> ProcessPoolExecutor:
    # A fork has the format, wherever it came from, and what it read, for nothing.
    return ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("fork"),
        initializer=_begin,
        initargs=(work, job),
    )


#: Of this process, where it is one of a pool's.
_JOBS: list[tuple[Any, Job]] = []


def _begin(work: Any, job: Job) -> None:
    _JOBS[:] = [(work, job)]
    die_with_parent()
    # It is the importing process that ends in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer_here(batch: Sequence[tuple[int, Instance]]) -> list[Any]:
    return [_answer(*_JOBS[0], instance, number) for number, instance in batch]
