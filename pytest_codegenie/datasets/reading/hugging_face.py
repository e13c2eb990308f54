"""Rows of the Hugging Face hub, by its library, which is an extra."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.datasets.reading.row import Row
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean


#: ``owner/name``, with a configuration: ``google-research-datasets/mbpp:sanitized``.
HUB_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(:(?P<config>[\w.-]+))?"
)
_MARKS = ("dataset_info.json", "dataset_dict.json")


def was_saved_by_datasets(directory: Path) -> bool:
    """Tell whether a directory is what ``save_to_disk`` of the library made."""
    return any((directory / mark).is_file() for mark in _MARKS)


def hub_rows(source: str, *, split: str, revision: str) -> Iterator[Row]:
    """Yield the rows of a dataset of the hub, as they arrive.

    Args:
        source: ``owner/name`` or ``owner/name:configuration``.
        split: "": the only one there is.
        revision: A commit, tag or branch; "": the newest.

    Raises:
        DatasetError: It cannot be had; the library is not installed.
    """
    found = HUB_NAME.fullmatch(source)
    assert found is not None
    library = _library(source)
    loaded = _asked(
        source,
        lambda: library.load_dataset(
            found["name"],
            found["config"],
            streaming=True,
            revision=revision or None,
        ),
    )
    return _rows(source, loaded, split)


def saved_rows(directory: Path, name: str, *, split: str) -> Iterator[Row]:
    """Yield the rows of a directory that ``save_to_disk`` made.

    Args:
        directory: The directory.
        name: As places call it.
        split: "": the only one there is.

    Raises:
        DatasetError: It cannot be read; the library is not installed.
    """
    library = _library(name)
    loaded = _asked(name, lambda: library.load_from_disk(str(directory)))
    return _rows(name, loaded, split)


def _library(place: str) -> Any:
    try:
        import datasets
    except ImportError:
        raise DatasetError(
            place,
            "",
            "there is no such file, and a name of the Hugging Face hub needs its "
            "library: pip install 'pytest-codegenie[huggingface]'",
        ) from None
    return datasets


def _asked(place: str, load: Any) -> Any:
    try:
        return load()
    except Exception as exc:
        # The library lets through what its many parts raise.
        reason = " ".join(str(exc).split())[:500]
        raise DatasetError(
            place,
            "",
            f"the hub's library cannot load it: {type(exc).__name__}: {reason}; is "
            "the name right, and is there a network? A file that was downloaded can "
            "be named instead",
        ) from exc


def _rows(place: str, loaded: Any, split: str) -> Iterator[Row]:
    if isinstance(loaded, Mapping):
        name = _chosen(place, [str(key) for key in loaded], split)
        loaded, place = loaded[name], f"{place} ({name})"
    rows = iter(loaded)
    number = 0
    while (data := _asked(place, lambda: next(rows, None))) is not None:
        number += 1
        yield Row(f"{place}, row {number}", dict(data))


def _chosen(place: str, splits: list[str], split: str) -> str:
    if not split and len(splits) == 1:
        return splits[0]
    if split in splits:
        return split
    there = ", ".join(splits)
    if not split:
        raise DatasetError(
            place, "split", f"choose one of {there}: --option split={splits[-1]}"
        )
    raise DatasetError(
        place,
        "split",
        f"there is no {split!r}{did_you_mean(split, splits)}; there are: {there}",
    )
