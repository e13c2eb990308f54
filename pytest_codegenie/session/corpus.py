"""The corpus of one session: verified once, in every process known to be so."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.corpus import CaseListing
from pytest_codegenie.corpus import case_directories
from pytest_codegenie.corpus import find_task_classes
from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import hash_task_class
from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.corpus import list_cases
from pytest_codegenie.corpus import load_case
from pytest_codegenie.corpus import read_task
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.corpus import warn_when_stale
from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import BenchCaseIDCollision
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import Entry
from pytest_codegenie.hashing import TreeDigest
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import tree_entries
from pytest_codegenie.importing.dataset_file import is_dataset_file
from pytest_codegenie.importing.lazy_cases import LazyDataset
from pytest_codegenie.models import BenchCase
from pytest_codegenie.registry import TaskClass
from pytest_codegenie.session.lazy import LazyCases


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not verify, and the path that it is reported under."""

    path: Path
    error: CodegenieError


def _no_dataset(path: Path) -> Sequence[CodegenieError]:
    return [DatasetError(relative(path), "", "dataset files are not read here")]


class SessionCorpus:
    """Reads task classes and cases; remembers what does not verify.

    Args:
        manifest: What the controller of a distributed run has hashed; None: nothing.
        announce: This process logs stale cases (one of several does).
        opens: Opens a dataset file, or says all that is wrong with it.
    """

    def __init__(
        self,
        manifest: Path | None = None,
        *,
        announce: bool = True,
        opens: Callable[[Path], LazyDataset | Sequence[CodegenieError]] = _no_dataset,
    ) -> None:
        self.problems: list[Problem] = []
        self._known = _read_manifest(manifest) if manifest else {}
        self._today = dt.datetime.now(dt.UTC).date() if announce else None
        self._task_classes: dict[Path, TaskClass | None] = {}
        self._listings: dict[Path, CaseListing | None] = {}
        self._rubric_digests: dict[Path, str] = {}
        self._tests_limits: dict[Path, float | None] = {}
        self._built: set[Path] = set()
        #: Of all cases: what has it, and where that is.
        self._ids: dict[str, tuple[Path, Path]] = {}
        self._collided: set[str] = set()
        self._opens = opens
        self._datasets: dict[Path, LazyDataset | None] = {}
        #: Cases of dataset files.
        self.lazy = LazyCases()

    def task_class(self, directory: Path) -> TaskClass | None:
        """Return a directory's task class; None where it does not hold."""
        if directory not in self._task_classes:
            self._task_classes[directory] = None
            try:
                for dataset in filter(None, self._datasets.values()):
                    if (
                        dataset.name == directory.name
                        and dataset.task_class != directory
                    ):
                        raise _same_name(dataset, directory)
                self._task_classes[directory] = read_task_class(directory)
            except CodegenieError as exc:
                self.problems.append(Problem(directory, exc))
        return self._task_classes[directory]

    def rubric_digest(self, directory: Path) -> str:
        """Return the digest of a task class's own code."""
        if directory not in self._rubric_digests:
            self._rubric_digests[directory] = hash_task_class(directory)
        return self._rubric_digests[directory]

    def listing(self, directory: Path) -> CaseListing | None:
        """Return what a task class's ``cases/`` holds; None where it does not hold."""
        if directory not in self._listings:
            self._listings[directory] = None
            try:
                listing = list_cases(directory)
            except CodegenieError as exc:
                self.problems.append(Problem(directory / "cases", exc))
            else:
                self._listings[directory] = listing
                self.problems += [
                    Problem(directory / "cases", problem)
                    for problem in listing.problems
                ]
        return self._listings[directory]

    def case(self, directory: Path) -> BenchCase | None:
        """Return a verified case; None where it, or its task class, does not hold."""
        lazy = self.lazy.get(directory)
        if lazy is not None:
            return lazy.case
        task_class_dir = directory.parent.parent
        task_class = self.task_class(task_class_dir)
        listing = self.listing(task_class_dir)
        if task_class is None or listing is None:
            return None
        try:
            self._claim_id(directory.name, directory, directory.parent)
            case = load_case(directory, listing.digests, self._unchanged(directory))
        except CodegenieError as exc:
            self.problems.append(Problem(directory, exc))
            return None
        if self._today is not None:
            warn_when_stale(case, self._today)
        return case

    def dataset(self, path: Path) -> LazyDataset | None:
        """Return the cases of a dataset file; None where it does not hold."""
        if path not in self._datasets:
            self._datasets[path] = None
            opened = self._opens(path)
            if isinstance(opened, LazyDataset):
                try:
                    self._add(opened)
                    self._datasets[path] = opened
                except DatasetError as exc:
                    self.problems.append(Problem(path, exc))
            else:
                self.problems += [Problem(path, error) for error in opened]
        return self._datasets[path]

    def _add(self, dataset: LazyDataset) -> None:
        """Take the cases of a dataset file among those of the session.

        Raises:
            DatasetError: Others have the ids of some, or its name.
        """
        for other in self._datasets.values():
            if other is not None and other.name == dataset.name:
                raise _same_name(dataset, other.path)
        for directory in self._task_classes:
            if directory.name == dataset.name:
                raise _same_name(dataset, directory)
        self.lazy.add(dataset)
        taken = list(self._taken(dataset))
        if taken:
            others = {path for exc in taken for path in exc.paths} - {dataset.path}
            more = f" (and {len(taken) - 1} more)" if len(taken) > 1 else ""
            raise DatasetError(
                relative(dataset.path),
                taken[0].case_id,
                f"{relative(min(others))} has a case of this id, too{more}; run them "
                "one at a time, or leave these out (exclude)",
            )

    def _taken(self, dataset: LazyDataset) -> Iterator[BenchCaseIDCollision]:
        for lazy in dataset.cases:
            try:
                self._claim_id(lazy.case.case_id, dataset.path, dataset.path)
            except BenchCaseIDCollision as exc:
                yield exc

    def case_directory(self, file: Path, name: str) -> Path:
        """Return the directory of an item's case, which may not be written yet.

        Args:
            file: That the item is collected from.
            name: Of the item.
        """
        if not is_dataset_file(file):
            return file.parent
        dataset = self.dataset(file)
        cases = file.parent if dataset is None else dataset.task_class / "cases"
        return cases / name.partition("[")[0]

    def check_tasks(self, cases: Iterable[BenchCase | None]) -> None:
        """Read the task of each case that is about to run, before any does."""
        for case in dict.fromkeys(cases):
            if case is None or case.directory in self.lazy:
                continue  # what the importer writes is sound
            try:
                task = read_task(case)
            except CodegenieError as exc:
                self.problems.append(Problem(case.directory, exc))
            else:
                self._tests_limits[case.directory] = task.tests.timeout_seconds
                if task.task.environment.install != "none":
                    self._built.add(case.directory)

    def tests_limit_seconds(self, case: BenchCase) -> float | None:
        """Return what ``check_tasks`` read of a case's limit for its test run."""
        lazy = self.lazy.get(case.directory)
        if lazy is not None:
            return lazy.tests_timeout_seconds
        return self._tests_limits.get(case.directory)

    def needs_setup(self, case: BenchCase) -> bool:
        """Say whether ``check_tasks`` saw that an environment has to be built."""
        lazy = self.lazy.get(case.directory)
        if lazy is not None:
            return lazy.needs_setup
        return case.directory in self._built

    def _claim_id(self, case_id: str, place: Path, among: Path) -> None:
        """Refuse an id that another case of the session has; the store needs it.

        Args:
            case_id: The id.
            place: Of the case.
            among: What has said already if two of its cases have one id.
        """
        key = case_id.casefold()
        first, first_among = self._ids.setdefault(key, (place, among))
        if first == place or first_among == among:
            return
        if key not in self._collided:
            self._collided.add(key)
            raise BenchCaseIDCollision(case_id, (first, place))

    def _unchanged(self, directory: Path) -> TreeDigest | None:
        """Return the controller's digest, if nothing changed since it was taken."""
        known = self._known.get(str(directory))
        if known is None:
            return None
        try:
            return known if tree_entries(directory) == known.entries else None
        except (OSError, UnhashableEntryError):
            return None


def write_manifest(path: Path, roots: Iterable[Path]) -> dict[Path, str]:
    """Hash all cases at or below ``roots``, for the workers of a distributed run.

    What cannot be hashed is left out: each worker finds it and says why.

    Returns:
        The directory of each case to its digest.
    """
    digests: dict[str, TreeDigest] = {}
    for directory in cases_below(roots):
        try:
            digests[str(directory)] = hash_case(directory)
        except BenchCaseLoadError:
            continue
    write_atomically(path, json.dumps(digests))
    return {Path(directory): tree.digest for directory, tree in digests.items()}


def cases_below(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield the directories of the cases that collecting ``roots`` comes to."""
    for root in roots:
        # A path inside of a case selects the case, one inside of cases/ all of them.
        for directory in (root, *root.parents):
            if directory.name == "cases" and is_task_class(directory.parent):
                inside = root.relative_to(directory).parts
                if inside:
                    yield directory / inside[0]
                else:
                    yield from case_directories(directory)
                break
        else:
            for task_class in find_task_classes(root):
                yield from case_directories(task_class / "cases")


def _same_name(dataset: LazyDataset, other: Path) -> DatasetError:
    return DatasetError(
        relative(dataset.path),
        "dataset.name",
        f"{relative(other)} has the name {dataset.name!r}, too; give one of them "
        "another name, or run them one at a time",
    )


def _read_manifest(path: Path) -> dict[str, TreeDigest]:
    return {
        directory: TreeDigest(digest, tuple(Entry(*entry) for entry in entries))
        for directory, (digest, entries) in json.loads(path.read_bytes()).items()
    }
