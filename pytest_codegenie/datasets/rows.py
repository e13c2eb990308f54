"""Rows of a dataset, from whatever kind of file they come in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.datasets.reading.csv_rows import csv_rows
from pytest_codegenie.datasets.reading.hugging_face import HUB_NAME
from pytest_codegenie.datasets.reading.hugging_face import hub_rows
from pytest_codegenie.datasets.reading.hugging_face import saved_rows
from pytest_codegenie.datasets.reading.hugging_face import was_saved_by_datasets
from pytest_codegenie.datasets.reading.json_rows import json_rows
from pytest_codegenie.datasets.reading.parquet_rows import parquet_rows
from pytest_codegenie.datasets.reading.row import Row as Row
from pytest_codegenie.datasets.reading.row import check_text as check_text
from pytest_codegenie.datasets.reading.row import text_of as text_of
from pytest_codegenie.datasets.reading.row import texts_of as texts_of
from pytest_codegenie.datasets.reading.row import type_name as type_name
from pytest_codegenie.datasets.reading.row import value_of as value_of
from pytest_codegenie.datasets.reading.streams import first_bytes
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import printable
from pytest_codegenie.errors import relative


#: Of files that hold rows; ``.gz`` may follow all but ``.parquet``.
SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv")


def read_rows(source: str, *, split: str = "", revision: str = "") -> Iterator[Row]:
    """Yield the rows of a source in their order, a few in memory at a time.

    Args:
        source: A file of JSON lines, a JSON array or object, Parquet or CSV, also
            packed by gzip; a directory of such files; or else the name of a dataset of
            the Hugging Face hub, ``owner/name`` or ``owner/name:configuration``.
        split: Of a directory or the hub, as ``test``; a file is one split.
        revision: Of the hub: a commit, tag or branch.

    Raises:
        DatasetError: It is missing or no file of rows; the error names file and line.
    """
    path = Path(source)
    try:
        if path.is_dir():
            return _directory_rows(path, split)
        if path.exists():
            return _file_rows(path, path.name)
    except (OSError, ValueError) as exc:
        raise DatasetError(printable(source), "", f"cannot be read: {exc}") from exc
    if HUB_NAME.fullmatch(source) and not _means_a_file(path):
        return hub_rows(source, split=split, revision=revision)
    raise missing(source)


def missing(source: str) -> DatasetError:
    """Return the error for a source that is not there, with the nearest that is."""
    path = Path(source)
    neighbours: list[str] = []
    if path.parent.is_dir():
        neighbours = os.listdir(path.parent)  # noqa: PTH208 -- names are wanted
        where = f"; {relative(path.parent)} has no such file"
    else:
        where = f"; there is no directory {relative(path.parent)}"
    return DatasetError(
        relative(path), "", f"missing{did_you_mean(path.name, neighbours)}{where}"
    )


def _means_a_file(path: Path) -> bool:
    """Tell whether ``data/rows.jsonl`` was meant for a file, though it is not there."""
    return path.parent.is_dir() or path.name.endswith((*SUFFIXES, ".gz"))


def _file_rows(path: Path, name: str) -> Iterator[Row]:
    """Return the rows of a file, by its content and suffix.

    Args:
        path: The file.
        name: As places call it.

    Raises:
        DatasetError: It is none of the kinds that are read.
    """
    if not path.is_file():
        raise DatasetError(name, "", "is neither a file nor a directory")
    start = first_bytes(path, name, 4)
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if start == b"PAR1" or suffix == ".parquet":
        return parquet_rows(path, name)
    if suffix in (".csv", ".tsv"):
        return csv_rows(path, name, delimiter="\t" if suffix == ".tsv" else ",")
    if suffix in SUFFIXES or start[:1] in (b"{", b"["):
        return json_rows(path, name, lines=suffix in (".jsonl", ".ndjson"))
    raise DatasetError(
        name,
        "",
        f"is no file of rows that can be read ({', '.join(SUFFIXES)}; .gz too)",
    )


def _directory_rows(directory: Path, split: str) -> Iterator[Row]:
    if was_saved_by_datasets(directory):
        yield from saved_rows(directory, relative(directory), split=split)
        return
    files = _files(directory)
    chosen = [path for path in files if not split or split in _words(path)]
    if not chosen:
        there = ", ".join(files[:10]) + (" ..." if len(files) > 10 else "")
        of_split = f" of the split {split!r}" if split else ""
        raise DatasetError(
            relative(directory),
            "split" if split and files else "",
            f"holds no file of rows{of_split} ({', '.join(SUFFIXES)}; .gz too); there "
            f"is: {there or 'none'}",
        )
    for name in chosen:
        yield from _file_rows(directory / name, name)


def _files(directory: Path) -> list[str]:
    """Return the files of rows in a directory, relative to it, sorted."""
    paths = (path.relative_to(directory) for path in directory.rglob("*"))
    return sorted(
        path.as_posix()
        for path in paths
        if path.name.lower().removesuffix(".gz").endswith(SUFFIXES)
        and not any(part.startswith(".") for part in path.parts)
        and (directory / path).is_file()
    )


def _words(path: str) -> list[str]:
    """Return what a file's path is made of: ``data/test-00000-of-00001.parquet``."""
    return re.split(r"[/.-]", path)
