"""Rows in Parquet, by pyarrow, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.datasets.reading.row import Row
from pytest_codegenie.errors import DatasetError


_BATCH = 64


def parquet_rows(path: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a Parquet file.

    Args:
        path: The file.
        name: As places call it.

    Raises:
        DatasetError: It is not Parquet, or pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DatasetError(
            name,
            "",
            "reading Parquet needs pyarrow: pip install 'pytest-codegenie[parquet]'",
        ) from None
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for data in batch.to_pylist():
                    number += 1
                    yield Row(f"{name}, row {number}", data)
    except (pyarrow.ArrowException, OSError) as exc:
        place = f"{name}, after row {number}" if number else name
        reason = " ".join(str(exc).split())
        raise DatasetError(place, "", f"not usable Parquet: {reason}") from exc
