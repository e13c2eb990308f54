"""The results of a run that goes on: which items have one, and where it is.

Of each item only the place of its result is kept, so that a run of thousands of cases
is resumed without all its results in memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import NamedTuple

from pydantic import ValidationError

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.lines import whole_lines
from pytest_codegenie.evidence.store import RESULTS
from pytest_codegenie.evidence.store import ResultKey
from pytest_codegenie.models import CaseResult


#: What is a verdict. All else is run again when a run is resumed.
_VERDICTS = ("passed", "failed")


class Entry(NamedTuple):
    """A result on record, without what it says."""

    #: Of its line in ``results.jsonl``, in bytes.
    offset: int
    length: int
    outcome: str
    #: 1-based.
    attempt: int
    case_digest: str
    rubric_digest: str

    @property
    def is_verdict(self) -> bool:
        """Whether it says what the agent did, so that nothing is run again."""
        return self.outcome in _VERDICTS


class RecordedResults(Mapping[ResultKey, Entry]):
    """What each item of a run to its result: of several tries the last.

    Args:
        run_directory: Of the run.
        size: Look no further in ``results.jsonl``, in bytes: what came later is not
            taken in. None: to its end.

    Raises:
        RunStoreError: A whole line is no result, or the file cannot be read.
    """

    def __init__(self, run_directory: Path, size: int | None = None) -> None:
        self._path = run_directory / RESULTS
        self._entries: dict[ResultKey, Entry] = {}
        #: As far as it was looked: the end of a line.
        self.size = 0
        self._fd = -1
        for number, line in whole_lines(self._path):
            if size is not None and self.size + len(line) > size:
                break
            self._add(number, line)
            self.size += len(line)

    def _add(self, number: int, line: bytes) -> None:
        try:
            result: dict[str, Any] = json.loads(line)
            key = ResultKey(*(result[field] for field in ResultKey._fields))
            entry = Entry(
                offset=self.size,
                length=len(line),
                outcome=result["outcome"],
                attempt=result.get("attempt", 1),
                case_digest=result["case_digest"],
                rubric_digest=result.get("rubric_digest", ""),
            )
            earlier = self._entries.get(key)
            if earlier is None or entry.attempt >= earlier.attempt:
                self._entries[key] = entry
        except (AttributeError, LookupError, TypeError, ValueError) as exc:
            raise self._no_result(number, exc) from exc

    def _no_result(self, number: int, exc: Exception) -> RunStoreError:
        reason = " ".join(f"{type(exc).__name__}: {exc}".split())
        return RunStoreError(self._path, f"line {number} is no result: {reason:.200}")

    def __getitem__(self, key: ResultKey) -> Entry:
        return self._entries[key]

    def __iter__(self) -> Iterator[ResultKey]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def read(self, key: ResultKey) -> CaseResult:
        """Return an item's result.

        Raises:
            KeyError: It has none.
            RunStoreError: It cannot be read, or is no result any more.
        """
        entry = self._entries[key]
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            line = os.pread(self._fd, entry.length, entry.offset)
            return CaseResult.from_json(line)
        except OSError as exc:
            reason = f"cannot be read: {exc.strerror}"
            raise RunStoreError(self._path, reason) from exc
        except ValidationError as exc:
            fault = exc.errors(include_url=False)[0]
            place = ".".join(map(str, fault["loc"]))
            reason = f"the result of {key.case_id!r} is none: {fault['msg']} ({place})"
            raise RunStoreError(self._path, reason) from exc

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
