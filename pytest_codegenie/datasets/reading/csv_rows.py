"""Rows in CSV: the first line names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pytest_codegenie.datasets.reading.row import Row
from pytest_codegenie.datasets.reading.streams import MAX_ROW_BYTES
from pytest_codegenie.datasets.reading.streams import decoded
from pytest_codegenie.datasets.reading.streams import open_rows
from pytest_codegenie.errors import DatasetError


def csv_rows(path: Path, name: str, *, delimiter: str = ",") -> Iterator[Row]:
    """Yield the rows of a CSV file; a field that is empty or not there is "".

    Args:
        path: The file.
        name: As places call it.
        delimiter: Between fields.

    Raises:
        DatasetError: It is not CSV, or a row has more fields than there are columns.
    """
    with open_rows(path, name) as stream:
        # Of the process; there is no other way, and ours bounds a line anyway.
        csv.field_size_limit(MAX_ROW_BYTES)
        reader = csv.reader(_lines(stream, name), strict=True, delimiter=delimiter)
        columns: list[str] = []
        while True:
            place = f"{name}, line {reader.line_num + 1}"
            try:
                fields = next(reader, None)
            except csv.Error as exc:
                raise DatasetError(place, "", f"not CSV: {exc}") from None
            if fields is None:
                break
            if not columns:
                columns = _checked(fields, place)
            elif fields:
                yield Row(place, _named(fields, columns, place))
        if not columns:
            raise DatasetError(name, "", "the file is empty; nothing can be imported")


def _lines(stream: BinaryIO, name: str) -> Iterator[str]:
    number = 0
    while data := stream.readline(MAX_ROW_BYTES):
        number += 1
        yield decoded(data, f"{name}, line {number}")


def _checked(columns: list[str], place: str) -> list[str]:
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise DatasetError(place, twice[0], "the column stands twice; rename one")
    return columns


def _named(fields: list[str], columns: list[str], place: str) -> dict[str, str]:
    if len(fields) > len(columns):
        raise DatasetError(
            place,
            "",
            f"has {len(fields)} fields, and there are {len(columns)} columns; put "
            "what holds a comma in double quotes",
        )
    return dict(zip(columns, fields + [""] * len(columns), strict=False))
