"""Which instances a dataset file selects of its source."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pytest_codegenie.datasets import Dataset
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.datasets import Instance
from pytest_codegenie.datasets import case_id_of
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.importing.dataset_file import DatasetFile
from pytest_codegenie.importing.selecting import Selection


def selected(
    file: DatasetFile, dataset: Dataset, options: DatasetOptions
) -> Iterator[Instance]:
    """Yield the instances that the dataset file selects.

    Raises:
        DatasetError: The source cannot be read, or there are none; or a pattern is of
            none of them.
    """
    count = 0
    selection = Selection(file.table.select, file.table.limit)
    leave_out = _LeaveOut(file.table.exclude)
    try:
        for instance in selection.among(
            leave_out.others(_instances(file, dataset, options))
        ):
            count += 1
            yield instance
        selection.refuse_unmatched()
    except ConfigError as exc:
        raise file.fault("dataset.select", exc.reason) from None
    if not count:
        raise file.fault("dataset.source", f"{relative(file.source)} has no instance")
    if leave_out.unmatched and file.table.limit is None:
        pattern = next(iter(leave_out.unmatched))
        raise file.fault("dataset.exclude", f"{pattern!r} matches no instance")


def _instances(
    file: DatasetFile, dataset: Dataset, options: DatasetOptions
) -> Iterator[Instance]:
    """Yield all instances of the source.

    Raises:
        DatasetError: It cannot be read; or the format fails on it.
    """
    try:
        yield from dataset.instances(str(file.source), options)
    except (DatasetError, OSError):
        raise
    except Exception as exc:
        # A format is anybody's code.
        raise DatasetError(
            relative(file.source),
            "",
            f"the format {dataset.name!r} failed on it: {type(exc).__name__}: {exc}",
        ) from exc


class _LeaveOut:
    """Leaves out instances by shell patterns over their ids."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self.unmatched = set(patterns)

    def others(self, instances: Iterable[Instance]) -> Iterator[Instance]:
        """Yield the instances that none of the patterns is of."""
        for instance in instances:
            names = (instance.instance_id, case_id_of(instance.instance_id))
            matching = {
                pattern
                for pattern in self._patterns
                if any(fnmatchcase(name, pattern) for name in names)
            }
            self.unmatched -= matching
            if not matching:
                yield instance
