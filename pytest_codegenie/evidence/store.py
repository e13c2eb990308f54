"""The run store: what a run leaves on disk, written so that a crash loses nothing.

``results.jsonl`` is the record; all else is derived from it or explains it. A result
is one whole line, written under a lock and synced to the disk before its outcome is
reported, by whichever process ran the case. A line that was cut off (a crash, a full
disk) is no result: the next writer removes it, and readers leave it out.

Whatever is killed, by ``kill -9`` too, what was written is there. After a power cut
there is what was synced (fsync):

- Each result, before anybody hears of its outcome: its line, and with the first one the
  file's entry in the run's directory.
- ``run.json``, before any case is collected, and again, with what is to run, before any
  is run; the directories that are made for it, and reports at the end. Such a file is
  replaced as a whole: there is the old one or the new.
- Not what lies in ``cases/``, and not ``log.jsonl``. They explain results; the patch,
  what the tests said and the score are in the result itself.

One session at a time works on a run: it holds ``session.lock``, and its workers share
``workers.lock``, until they end or are killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any
from typing import NamedTuple

from pydantic import ValidationError

from pytest_codegenie.documents import sync_directory
from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.lines import append_whole
from pytest_codegenie.evidence.lines import whole_lines
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import Record
from pytest_codegenie.models import RunRecord


if TYPE_CHECKING:
    import pandas as pd


_MAKE_ROOM = (
    "what was recorded before is whole: make room, or choose another place with "
    "--codegenie-out"
)

RESULTS = "results.jsonl"
RUN = "run.json"
_LATER_TRY = re.compile(rb'"attempt": ?(?!1\b)\d')


def create_run(out: Path, run_id: str) -> Path:
    """Make the directory of a new run and return it.

    Raises:
        ConfigError: There is a run of that id.
        RunStoreError: The directory cannot be made.
    """
    directory = out / "runs" / run_id
    try:
        made = [path for path in directory.parents if not path.exists()]
        directory.mkdir(parents=True)
        ignore = out / ".gitignore"
        if not ignore.exists():
            write_atomically(ignore, "*\n")
        # An entry is as durable as the directory that it is in.
        for parent in (directory, *made):
            sync_directory(parent.parent)
    except FileExistsError:
        raise ConfigError(
            "--codegenie-run-id",
            run_id,
            f"the run exists, in {relative(directory)}; choose another id",
        ) from None
    except OSError as exc:
        raise RunStoreError(
            directory, f"cannot be made: {exc.strerror}; {_MAKE_ROOM}"
        ) from exc
    return directory


def write_record(path: Path, record: Record) -> None:
    """Write a record as readable JSON, atomically.

    Raises:
        RunStoreError: It cannot be written.
    """
    text = json.dumps(record.model_dump(mode="json"), indent=2, ensure_ascii=False)
    try:
        write_atomically(path, f"{text}\n")
    except OSError as exc:
        raise RunStoreError(
            path, f"cannot be written: {exc.strerror}; {_MAKE_ROOM}"
        ) from exc


def append_result(run_directory: Path, result: CaseResult) -> None:
    """Append a result durably. It is on the disk when this returns.

    Raises:
        RunStoreError: It is not; the file is as it was.
    """
    line = result.to_json().encode() + b"\n"
    path = run_directory / RESULTS
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.fstat(fd).st_size == 0:
                # Under the lock: no second writer may report a result in a file that
                # is not in its directory after a power cut.
                sync_directory(run_directory)
            append_whole(fd, line)
        finally:
            os.close(fd)
    except OSError as exc:
        raise RunStoreError(
            path, f"a result cannot be recorded: {exc.strerror}; {_MAKE_ROOM}"
        ) from exc


def read_results(run_directory: Path) -> Iterator[CaseResult]:
    """Yield the results of a run in the order of their writing.

    A line that was cut off is left out, and so is a try that was made again.

    Raises:
        RunStoreError: A whole line is no result.
    """
    path = run_directory / RESULTS
    made_again = _made_again(path)
    for number, line in whole_lines(path):
        try:
            result = CaseResult.from_json(line)
        except ValidationError as exc:
            fault = f"line {number} is no result: {_first_fault(exc)}"
            raise RunStoreError(path, fault) from exc
        if result.attempt >= made_again.get(result_key(result), 1):
            yield result


def read_plain_results(
    run_directory: Path, *, all_tries: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the results as plain values: for going over many, quickly.

    Args:
        run_directory: Of the run.
        all_tries: Yield the tries that were made again, too.

    Raises:
        RunStoreError: A whole line is no JSON.
    """
    path = run_directory / RESULTS
    made_again = {} if all_tries else _made_again(path)
    for number, line in whole_lines(path):
        result = _plain(path, number, line)
        # What is no result is for the caller to say.
        attempt = made_again and made_again.get(_plain_key(result), 1)
        if not attempt or result.get("attempt", 1) >= attempt:
            yield result


def _plain(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(line)
    except ValueError as exc:
        raise RunStoreError(path, f"line {number} is no JSON: {exc}") from exc
    return values


class ResultKey(NamedTuple):
    """What one item of a run is of; its tries have it in common."""

    task_class: str
    case_id: str
    #: The agent's label.
    agent: str
    trial: int


def result_key(one: CaseResult | CaseJob) -> ResultKey:
    """Return what a result, or a job, is of."""
    if isinstance(one, CaseJob):
        case = one.case
        return ResultKey(case.task_class, case.case_id, one.agent.label, one.trial)
    return ResultKey(one.task_class, one.case_id, one.agent, one.trial)


def artifacts_place(key: ResultKey, attempt: int = 1) -> str:
    """Return where the artifacts of a try are, relative to the run's directory.

    Args:
        key: What it is a try of.
        attempt: 1-based. The first has the name of the trial alone.
    """
    suffix = f"-try{attempt}" if attempt > 1 else ""
    return f"cases/{key.case_id}/{key.agent}-t{key.trial}{suffix}"


def _plain_key(result: Any) -> ResultKey | None:
    try:
        return ResultKey(*(result[field] for field in ResultKey._fields))
    except (LookupError, TypeError):
        return None


def _made_again(path: Path) -> dict[ResultKey | None, int]:
    """Return the last try of each item that has more than one."""
    last: dict[ResultKey | None, int] = {}
    for number, line in whole_lines(path):
        # Within a string the quotes would be escaped.
        if _LATER_TRY.search(line):
            result = _plain(path, number, line)
            key = _plain_key(result)
            last[key] = max(last.get(key, 1), result.get("attempt", 1))
    return last


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its store has it."""

    directory: Path
    record: RunRecord
    results: tuple[CaseResult, ...]

    def to_pandas(self) -> pd.DataFrame:
        """Return the results as a data frame, one row each; without any, its columns.

        Raises:
            FramesUnavailable: pandas is not installed; it is an ``ImportError`` too.
        """
        # pandas takes most of a second, and few need it.
        from pytest_codegenie.evidence.frames import to_pandas
        from pytest_codegenie.evidence.stored import StoredRun

        return to_pandas(StoredRun(self.directory, self.record), self.results)


def load_run(path: Path | str) -> Run:
    """Return a run, finished or cut off.

    Args:
        path: Its directory, ``.codegenie/runs/<run id>``.

    Raises:
        RunStoreError: It is no run, or a record in it cannot be read.
    """
    directory = Path(path)
    record = read_run_record(directory)
    return Run(directory, record, tuple(read_results(directory)))


def read_run_record(directory: Path) -> RunRecord:
    """Return what ``run.json`` says.

    Raises:
        RunStoreError: It cannot be read, or is no record of a run.
    """
    path = directory / RUN
    try:
        return RunRecord.from_json(path.read_bytes())
    except OSError as exc:
        raise RunStoreError(
            path, f"cannot be read: {exc.strerror}; is this a run?"
        ) from exc
    except ValidationError as exc:
        raise RunStoreError(path, f"is no run record: {_first_fault(exc)}") from exc


def _first_fault(exc: ValidationError) -> str:
    """Return what pydantic says first, and of which key."""
    error = exc.errors(include_url=False)[0]
    key = ".".join(str(part) for part in error["loc"])
    return f"{error['msg']} ({key})" if key else error["msg"]
