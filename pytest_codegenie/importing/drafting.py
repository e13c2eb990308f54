"""Preparing many instances at a time, in processes, in the order of the dataset."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from collections.abc import Generator
from collections.abc import Iterable
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
#: Instances in memory for each process: enough that none waits for the reader.
_AHEAD = 8


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
    numbered = enumerate(instances)
    if processes == 1:
        for number, instance in numbered:
            yield _answer(work, job, instance, number)
        return
    waiting: deque[Future[_Result | DatasetError]] = deque()
    fault: Exception | None = None
    with _pool(work, job, processes) as pool:
        try:
            while True:
                try:
                    while len(waiting) < processes * _AHEAD:
                        number, instance = next(numbered)
                        waiting.append(pool.submit(_answer_here, instance, number))
                except StopIteration:
                    pass
                except DatasetError as exc:
                    # What was read before it is whole, and comes first.
                    fault = exc
                if not waiting:
                    break
                yield _result(waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)
    if fault is not None:
        raise fault


def _result(future: Future[_Result | DatasetError]) -> _Result | DatasetError:
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


def _answer_here(instance: Instance, number: int) -> Any:
    return _answer(*_JOBS[0], instance, number)
