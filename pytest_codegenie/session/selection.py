"""Which of the collected cases are run: those of datasets, of ids, the first of them.

A dataset is a task class of the bench, a split of it one of its curation classes.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_codegenie.config import Configuration
from pytest_codegenie.config import DatasetSpec
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import relative
from pytest_codegenie.session.corpus import cases_below
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.items import ValidationItem


#: More of them are not listed in a message.
_SHOWN = 20


class Selection:
    """What the settings select; every process of a run comes to the same."""

    def __init__(self, configuration: Configuration) -> None:
        settings = configuration.settings
        self._origin = configuration.origin
        self._datasets = settings.datasets
        self._cases = settings.cases
        self._limit = settings.limit

    @property
    def names(self) -> bool:
        """Tell whether datasets or cases are named at all."""
        return bool(self._datasets or self._cases)

    def check_names(
        self, roots: Iterable[Path], lazy: Mapping[str, Iterable[str]]
    ) -> None:
        """Refuse names that nothing below ``roots`` has, before anything is started.

        Args:
            roots: What is collected from.
            lazy: Of dataset files: the name of each to the ids of its cases.

        Raises:
            ConfigError: A dataset or a case is unknown.
        """
        if not self.names:
            return
        roots = tuple(roots)
        place = ", ".join(relative(root) for root in roots) or "."
        known = {name: set(ids) for name, ids in lazy.items()}
        for directory in cases_below(roots):
            known.setdefault(directory.parent.parent.name, set()).add(directory.name)
        for number, spec in enumerate(self._datasets):
            source = self._origin(f"datasets.{number}")
            _check(source, "dataset", [spec.name], known, place)
            ids = known[spec.name]
            _check(source, "case", spec.instance_ids, ids, f"dataset {spec.name!r}")
        names = [spec.name for spec in self._datasets]
        ids = set().union(*(known[name] for name in names or known))
        if names:
            place = f"dataset {', '.join(map(repr, dict.fromkeys(names)))}"
        _check(self._origin("cases"), "case", self._cases, ids, place)

    def matching(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return the items of the datasets and cases that are named, in order."""
        return [item for item in items if self._matches(item)]

    def _matches(self, item: pytest.Item) -> bool:
        case_id = _case_id(item)
        if self._cases and case_id is not None and case_id not in self._cases:
            return False
        return not self._datasets or any(_is_of(item, spec) for spec in self._datasets)

    def first(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return the items of as many cases as the limits allow, in order."""
        if any(spec.limit for spec in self._datasets):
            allowed: set[str | None] = set()
            for spec in self._datasets:
                allowed |= _first([i for i in items if _is_of(i, spec)], spec.limit)
            items = [item for item in items if _case_id(item) in allowed]
        allowed = _first(items, self._limit)
        return [item for item in items if _case_id(item) in allowed]


def _first(items: Iterable[pytest.Item], limit: int | None) -> set[str | None]:
    """Return the ids of the first cases; None for what belongs to no case."""
    ids = {_case_id(item) for item in items}
    return {None, *sorted(one for one in ids if one is not None)[:limit]}


def _is_of(item: pytest.Item, spec: DatasetSpec) -> bool:
    if not isinstance(item, CaseItem | ValidationItem):
        return False
    if item.task_class.name != spec.name:
        return False
    if item.case_id is None:
        return True  # what checks the task class as a whole
    if spec.instance_ids and item.case_id not in spec.instance_ids:
        return False
    # One that does not verify stops the run, so it stays.
    return item.case is None or spec.split in (None, item.case.curation_class)


def _case_id(item: pytest.Item) -> str | None:
    """Return the id of an item's case; None: it belongs to no case."""
    return item.case_id if isinstance(item, CaseItem | ValidationItem) else None


def _check(
    source: str, kind: str, names: Iterable[str], known: Collection[str], place: str
) -> None:
    for name in names:
        if name not in known:
            listed = sorted(known)
            more = f", and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
            raise ConfigError(
                source,
                "",
                f"there is no {kind} {name!r} in {place}{did_you_mean(name, known)}; "
                f"known: {', '.join(listed[:_SHOWN]) or 'none'}{more}",
            )
