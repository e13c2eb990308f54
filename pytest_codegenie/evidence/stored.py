"""A run in its store, to be reported: its results are read as they are asked for.

Everything that a report says comes from here, so each report can be made again at any
time. ``load_run`` holds all results at once; a ``StoredRun`` goes over them.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.errors import RunNotFound
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.resuming import LATEST
from pytest_codegenie.evidence.resuming import resume_command
from pytest_codegenie.evidence.store import RESULTS
from pytest_codegenie.evidence.store import RUN
from pytest_codegenie.evidence.store import artifacts_place
from pytest_codegenie.evidence.store import read_plain_results
from pytest_codegenie.evidence.store import read_results
from pytest_codegenie.evidence.store import read_run_record
from pytest_codegenie.evidence.store import result_key
from pytest_codegenie.evidence.summary import Group
from pytest_codegenie.evidence.summary import summarise
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import RunRecord


_NAMED = 5
#: ``cases/<case id>/<agent>-t<trial>``, whatever lies below it.
_PLACE_PARTS = 3


@dataclass(frozen=True, slots=True)
class Overview:
    """What a run came to as a whole.

    ``shortfall`` is a sentence that says which items have no result, "" where all do;
    ``ended_at`` is when the last result came.
    """

    #: One for each task class and agent with a result, sorted by their names.
    groups: tuple[Group, ...]
    #: How many results there are, each trial of a case one.
    results: int
    #: How many items were to run; None where that was never recorded.
    selected: int | None
    #: Names of the items that have no result, in the order in which they were to run.
    missing: tuple[str, ...]
    #: The command that goes on with it.
    resume: str = ""

    @property
    def ended_at(self) -> dt.datetime | None:
        """When the last result came; None where there is none."""
        return max((g.ended_at for g in self.groups if g.ended_at), default=None)

    @property
    def shortfall(self) -> str:
        """Return a sentence that says what is missing; "" where nothing is."""
        if self.selected is None:
            return "not finished: what was to run was never recorded"
        if not self.missing:
            return ""
        named = ", ".join(self.missing[:_NAMED])
        more = ", ..." if len(self.missing) > _NAMED else ""
        return (
            f"not finished: {self.selected - len(self.missing)} of {self.selected} "
            f"items have a result; without one: {named}{more}"
            + (f"; resume it: {self.resume}" if self.resume else "")
        )


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run, finished or cut off."""

    #: Where it is.
    directory: Path
    #: What was asked for, by which versions.
    record: RunRecord

    def results(self) -> Iterator[CaseResult]:
        """Yield the results in the order of their writing, one at a time.

        Raises:
            RunStoreError: A whole line is no result.
        """
        return read_results(self.directory)

    def overview(self) -> Overview:
        """Return what the run came to.

        Raises:
            RunStoreError: A whole line is no result.
        """
        names: set[str] = set()
        count = 0
        trials = self.record.config.get("trials", 1) != 1

        def counted() -> Iterator[dict[str, Any]]:
            nonlocal count
            for result in read_plain_results(self.directory):
                count += 1
                names.add(_item_name(result, trials=trials))
                yield result

        try:
            groups = tuple(summarise(counted()))
        except (AttributeError, LookupError, TypeError, ValueError) as exc:
            reason = " ".join(f"{type(exc).__name__}: {exc}".split())
            raise RunStoreError(
                self.directory / RESULTS, f"line {count} is no result: {reason:.200}"
            ) from exc
        items = [item.partition("::")[2] for item in self.record.items]
        return Overview(
            groups=groups,
            results=count,
            selected=len(items) or None,
            missing=tuple(name for name in items if name not in names),
            resume=resume_command(self.record),
        )

    def artifacts(self, result: CaseResult) -> str | None:
        """Return a result's artifacts, relative to the run; None where there are none.

        Args:
            result: One of this run's.
        """
        named = result.output.artifacts.values() if result.output else ()
        for path in named:
            return "/".join(PurePosixPath(path).parts[:_PLACE_PARTS])
        place = artifacts_place(result_key(result), result.attempt)
        return place if (self.directory / place).is_dir() else None

    def is_torn(self) -> bool:
        """Tell whether the last line of the results was cut off, and is left out."""
        try:
            with (self.directory / RESULTS).open("rb") as file:
                if file.seek(0, os.SEEK_END) == 0:
                    return False
                file.seek(-1, os.SEEK_END)
                return file.read(1) != b"\n"
        except OSError:
            return False


def _item_name(result: dict[str, Any], *, trials: bool) -> str:
    """Return the name of the item that a result is of, as node ids end."""
    suffix = f"-t{result['trial']}" if trials else ""
    return f"{result['case_id']}[{result['agent']}{suffix}]"


def open_run(directory: Path | str) -> StoredRun:
    """Return a run, to be gone over.

    Args:
        directory: ``.codegenie/runs/<run id>``.

    Raises:
        RunStoreError: It is no run, or its record cannot be read.
    """
    return StoredRun(Path(directory), read_run_record(Path(directory)))


def find_run(name: str, find_out: Callable[[], Path]) -> Path:
    """Return the directory of a run, as a person names it.

    Args:
        name: ``latest``, the one that began last; an id; or a directory.
        find_out: Says where runs are kept, where the name is no directory.

    Raises:
        RunNotFound: There is no such run.
        RunStoreError: Which one is the latest cannot be told.
    """
    if name != LATEST and (os.sep in name or (Path(name) / RUN).exists()):
        if not Path(name).is_dir():
            raise RunNotFound(name, f"there is no directory {printable(name)}")
        return Path(name)
    runs = find_out() / "runs"
    if name == LATEST:
        return _find_latest(runs)
    if name not in (".", "..") and (runs / name).is_dir():
        return runs / name
    known = sorted(path.name for path in runs.glob("*") if path.is_dir())
    named = ", ".join(known[-_NAMED:]) or "none"
    raise RunNotFound(
        name,
        f"there is no run {name!r} in {relative(runs)}{did_you_mean(name, known)}; "
        f"the last ones: {named}",
    )


def _find_latest(runs: Path) -> Path:
    try:
        found = latest_run(runs.parent)
    except RunStoreError as exc:
        raise RunStoreError(
            exc.path,
            f"{exc.reason}; it may be of the latest run: name the one that is meant",
        ) from exc
    if found is None:
        raise RunNotFound(
            LATEST,
            f"there is no run in {relative(runs)}; --out (of pytest: --codegenie-out) "
            "says where runs are",
        )
    return found


def latest_run(out: Path) -> Path | None:
    """Return the directory of the run that began last; None where there is no run.

    Args:
        out: Where runs are kept, ``.codegenie``.

    Raises:
        RunStoreError: The record of a run cannot be read: it may be the last.
    """
    runs = out / "runs"
    directories = [path for path in runs.glob("*") if (path / RUN).exists()]
    # The record says when, which a copy of the store keeps and its dates do not.
    return max(
        directories,
        key=lambda path: (read_run_record(path).started_at, path.name),
        default=None,
    )
