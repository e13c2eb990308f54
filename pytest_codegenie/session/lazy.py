"""The cases of a session's dataset files, by the directories that they will have."""

from __future__ import annotations

from pathlib import Path

from pytest_codegenie.importing.lazy_cases import LazyCase
from pytest_codegenie.importing.lazy_cases import LazyDataset
from pytest_codegenie.models import BenchCase


class LazyCases:
    """Known as soon as their dataset file is opened, written when they run."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[LazyDataset, LazyCase]] = {}

    def add(self, dataset: LazyDataset) -> None:
        """Take the cases of a dataset file."""
        for lazy in dataset.cases:
            self._known[lazy.case.directory] = (dataset, lazy)

    def __contains__(self, directory: Path) -> bool:
        return directory in self._known

    def get(self, directory: Path) -> LazyCase | None:
        """Return the case of a directory; None: it is of no dataset file."""
        found = self._known.get(directory)
        return None if found is None else found[1]

    def provide(self, case: BenchCase) -> None:
        """Write the directory of a case, if it is of a dataset file.

        Raises:
            DatasetError: What it is made of changed since it was verified.
            OSError: It cannot be written.
        """
        found = self._known.get(case.directory)
        if found is not None:
            dataset, lazy = found
            dataset.provide(lazy)

    def answers_of(self, case: BenchCase) -> tuple[Path, ...]:
        """Return where the answers to a case are, too, beside its task class."""
        found = self._known.get(case.directory)
        if found is None:
            return ()
        dataset, _ = found
        return dataset.source, dataset.directory.parent

    def digests(self) -> dict[Path, str]:
        """Return the digests of all cases, by directory."""
        return {path: lazy.case.case_digest for path, (_, lazy) in self._known.items()}
