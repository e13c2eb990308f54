"""``codegenie verify --oracle``: which imported cases come out here as labelled."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from pytest_codegenie.cli.saying import say
from pytest_codegenie.corpus import case_directories
from pytest_codegenie.corpus import read_task
from pytest_codegenie.corpus.reproduction import MAX_TESTS
from pytest_codegenie.corpus.reproduction import NOT_TOLD
from pytest_codegenie.corpus.reproduction import REPRODUCTION_FILE
from pytest_codegenie.corpus.reproduction import Reproduction
from pytest_codegenie.corpus.reproduction import labelled_disposition
from pytest_codegenie.corpus.reproduction import mark_case
from pytest_codegenie.corpus.reproduction import read_reproductions
from pytest_codegenie.corpus.reproduction import write_reproductions
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import relative
from pytest_codegenie.harness.reproducing import reproduce_case
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import Disposition
from pytest_codegenie.models import Record


#: Something could not be told.
_NOT_TOLD = 1
_TESTS_SHOWN = 3
_MAX_DETAIL = 2000


class _Told(Record):
    """A line of the journal."""

    case_id: str
    found: Reproduction


@dataclass(frozen=True, slots=True)
class Oracle:
    """Runs the cases of one task class and marks those that do not reproduce.

    What is found of a case is kept in a journal at once, and so is its mark: who begins
    anew after a kill runs only what is left.
    """

    task_class: Path
    #: From a case and an agent's name to the job.
    make: Callable[[BenchCase, str], CaseJob]
    #: Directory for the journal.
    state: Path
    workspace: str
    jobs: int

    def run(self, cases: Sequence[BenchCase]) -> tuple[int, list[CodegenieError]]:
        """Run cases, print a line for each, and write down what was found.

        Returns:
            The exit code, and what is wrong with cases that could not be run at all.
        """
        known = read_reproductions(self.task_class)
        wanted = [
            (case, disposition)
            for case in cases
            if case.source == "imported"
            and (disposition := labelled_disposition(case, known)) != "ambiguous"
        ]
        with self._journal() as journal:
            told = self._told_before(journal, [case for case, _ in wanted])
            if told:
                say(
                    f"{relative(self.task_class)}: {len(told)} cases were told before "
                    "an earlier run was cut off, and are not run again"
                )
            left = [pair for pair in wanted if pair[0].case_id not in told]
            faults = []
            for case, found in self._find_out(left):
                if isinstance(found, CodegenieError):
                    faults.append(found)
                    continue
                self._keep(journal, case, found)
                told[case.case_id] = found
                say("\n".join(_lines(case, found)))
            there = {path.name for path in case_directories(self.task_class / "cases")}
            merged = {key: one for key, one in known.items() if key in there} | told
            write_reproductions(self.task_class, merged)
            journal.unlink()
        say(self._sum_up(told, len(cases) - len(wanted)))
        untold = any(found.reason in NOT_TOLD for found in told.values())
        return (_NOT_TOLD if untold else 0), faults

    @contextmanager
    def _journal(self) -> Iterator[Path]:
        """Yield the journal's path, locked: one at a time works on a task class."""
        place = hash_bytes(os.fsencode(self.task_class.resolve()))[7:15]
        path = self.state / f"{self.task_class.name}-{place}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(
                    "--oracle",
                    self.task_class.name,
                    "another command finds out about this task class just now, "
                    f"{relative(self.task_class)}; wait for its end, or stop it",
                ) from None
            path.touch()
            yield path

    def _told_before(
        self, journal: Path, cases: Sequence[BenchCase]
    ) -> dict[str, Reproduction]:
        digests = {case.case_id: case.case_digest for case in cases}
        told = {}
        for line in journal.read_bytes().splitlines():
            try:
                one = _Told.from_json(line)
            except ValidationError:
                continue  # a line that was cut off, or another version's
            same = digests.get(one.case_id) == one.found.case_digest
            if same and one.found.workspace == self.workspace:
                told[one.case_id] = one.found
        return told

    def _find_out(
        self, pairs: Sequence[tuple[BenchCase, Disposition]]
    ) -> Iterator[tuple[BenchCase, Reproduction | CodegenieError]]:
        """Yield what is found of each case, as it is found."""
        pool = ThreadPoolExecutor(self.jobs)
        try:
            futures = {pool.submit(self._find, *pair): pair[0] for pair in pairs}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            # After an interruption, what waits is not begun.
            pool.shutdown(cancel_futures=True)

    def _find(
        self, case: BenchCase, disposition: Disposition
    ) -> Reproduction | CodegenieError:
        try:
            task = read_task(case)
            found = reproduce_case(disposition, lambda agent: self.make(case, agent))
        except CodegenieError as exc:
            return exc
        return Reproduction(
            reproduces=not found.reason,
            reason=found.reason,
            detail=found.detail[:_MAX_DETAIL],
            tests=found.tests[:MAX_TESTS],
            disposition=disposition,
            case_digest=case.case_digest,
            python=task.task.environment.python,
            workspace=self.workspace,
            day=dt.datetime.now(dt.UTC).date(),
        )

    def _keep(self, journal: Path, case: BenchCase, found: Reproduction) -> None:
        # The mark first: of a case that is in the journal nobody thinks again.
        mark_case(case.directory, found)
        with journal.open("ab") as file:
            line = _Told(case_id=case.case_id, found=found).to_json()
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def _sum_up(self, told: Mapping[str, Reproduction], left_out: int) -> str:
        reasons = Counter(one.reason for one in told.values() if one.reason)
        good = sum(one.reproduces for one in told.values())
        words = f"{relative(self.task_class)}: {good} of {len(told)} cases reproduce"
        if reasons:
            counts = ", ".join(f"{n} {why}" for why, n in sorted(reasons.items()))
            words += f"; ambiguous are now {len(told) - good}: {counts}"
        if left_out:
            words += f"; {left_out} not looked at: not imported, or ambiguous before"
        return f"{words} ({REPRODUCTION_FILE})"


def _lines(case: BenchCase, found: Reproduction) -> Iterator[str]:
    place = relative(case.directory)
    if found.reproduces:
        yield f"{place}: reproduces"
        return
    first, *more = found.detail.splitlines() or [""]
    yield f"{place}: {found.reason}: {first}"
    yield from (f"    {line}" for line in more)
    yield from (f"    {test}" for test in found.tests[:_TESTS_SHOWN])
    if len(found.tests) > _TESTS_SHOWN:
        yield f"    and {len(found.tests) - _TESTS_SHOWN} more in {REPRODUCTION_FILE}"
