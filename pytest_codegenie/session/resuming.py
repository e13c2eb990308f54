"""Going on with a run: what a process of the session knows of what there is already.

What has a verdict is reported from the record. All else is run: what has no result, and
what ended in an error, whose earlier tries stay on record, artifacts and all.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_codegenie.errors import RunDiffers
from pytest_codegenie.evidence import RecordedResults
from pytest_codegenie.evidence import ResultKey
from pytest_codegenie.evidence import artifacts_place
from pytest_codegenie.evidence import resume_command
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import RunRecord


#: Of an item whose result is on record: the seconds that it took then.
RECORDED_SECONDS = pytest.StashKey[float]()
#: An attribute of reports: the item was not run in this session.
FROM_RECORD = "codegenie_from_record"
#: More of them are not listed in a message.
_SHOWN = 20


class Resumption:
    """What a run that goes on has: its record, and its results so far.

    Every process of a session comes to the same: none looks at what came later.

    Args:
        directory: Of the run.
        record: What it is made of.
        size: Of its results when the session began, in bytes; None: all of them.

    Raises:
        RunStoreError: The results cannot be read.
    """

    def __init__(
        self, directory: Path, record: RunRecord, size: int | None = None
    ) -> None:
        self.directory = directory
        self.record = record
        self.recorded = RecordedResults(directory, size)
        self._attempts: dict[ResultKey, int] = {}

    def has_verdict(self, key: ResultKey) -> bool:
        """Say whether an item is reported from the record, not run."""
        entry = self.recorded.get(key)
        return entry is not None and entry.is_verdict

    def verdict(self, key: ResultKey) -> CaseResult | None:
        """Return what is reported of an item; None where it is to be run.

        Raises:
            RunStoreError: The result cannot be read any more.
        """
        return self.recorded.read(key) if self.has_verdict(key) else None

    def attempt(self, key: ResultKey) -> int:
        """Return the number of the try that an item is reported by, or is run as."""
        if self.has_verdict(key):
            return self.recorded[key].attempt
        # Once: a try that is run makes its directory.
        if key not in self._attempts:
            self._attempts[key] = self._next_attempt(key)
        return self._attempts[key]

    def _next_attempt(self, key: ResultKey) -> int:
        attempt = self._tried(key) + 1
        # A try that was killed has left no result, but a directory.
        while (self.directory / artifacts_place(key, attempt)).exists():
            attempt += 1
        return attempt

    def _tried(self, key: ResultKey) -> int:
        entry = self.recorded.get(key)
        return 0 if entry is None else entry.attempt

    def crashed_attempt(self, key: ResultKey) -> int:
        """Return the number of the try that has just taken its worker with it."""
        # It has made its directory, if it came so far.
        return max(self._tried(key) + 1, self._next_attempt(key) - 1)

    def problems(
        self, items: Iterable[tuple[str, BenchCase | None]], rubrics: dict[str, str]
    ) -> Iterator[RunDiffers]:
        """Yield what the corpus has that the run did not; one error says it all.

        Args:
            items: Node id and case of each that is selected.
            rubrics: Task class to the digest of its own code.
        """
        items = list(items)
        cases = dict.fromkeys(case for _, case in items if case is not None)
        lines = [*self._changed(cases), *self._changed_rubrics(rubrics)]
        known = {plain_nodeid(item) for item in self.record.items}
        new = [item for item, _ in items if known and plain_nodeid(item) not in known]
        lines += [f"{item}: not in the run" for item in new]
        if lines:
            remedy = ""
            if len(new) == len(lines):
                remedy = f"select only what the run has: {resume_command(self.record)}"
            yield run_differs(self.record, lines, remedy=remedy)

    def _changed(self, cases: Iterable[BenchCase]) -> Iterator[str]:
        recorded = self.record.case_digests or {
            f"{key.task_class}/{key.case_id}": entry.case_digest
            for key, entry in self.recorded.items()
        }
        for case in cases:
            name = f"{case.task_class}/{case.case_id}"
            then = recorded.get(name, case.case_digest)
            if then != case.case_digest:
                yield f"case {name}: recorded {then}, now {case.case_digest}"

    def _changed_rubrics(self, rubrics: dict[str, str]) -> Iterator[str]:
        recorded = self.record.rubric_digests or {
            key.task_class: entry.rubric_digest for key, entry in self.recorded.items()
        }
        for task_class, now in rubrics.items():
            then = recorded.get(task_class, now)
            if then != now:
                yield f"rubric of {task_class}: recorded {then}, now {now}"


def run_differs(
    record: RunRecord, lines: Iterable[object], *, remedy: str = ""
) -> RunDiffers:
    """Return the error that lists what differs, as much as anybody reads of it."""
    listed = [str(line) for line in lines]
    more = len(listed) - _SHOWN
    if more > 0:
        listed[_SHOWN:] = [f"and {more} more"]
    return RunDiffers(record.run_id, listed, remedy=remedy)


def removed_items(record: RunRecord, root: Path) -> Iterator[str]:
    """Yield what is said of each case of a run that is no more.

    Args:
        record: Of the run.
        root: What its node ids are relative to.
    """
    for file in dict.fromkeys(item.partition("::")[0] for item in record.items):
        if not (root / file).is_file():
            yield f"{file}: in the run, and gone now"


def plain_nodeid(nodeid: str) -> str:
    """Return a node id without the group that xdist may have added."""
    return nodeid[: nodeid.rfind("]") + 1] or nodeid
