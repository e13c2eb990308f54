"""The reporter ``csv``: one row for each result, for spreadsheets (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.rows import flat_row


#: What makes a spreadsheet take a text for a formula, or a part of the next cell.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvReporter:
    """Columns as ``jsonl`` has keys, one ``breakdown.<key>`` each; unknown is empty.

    Text that a spreadsheet would run as a formula (it starts with ``=``, ``+``, ``-``,
    ``@``, a tab or a line end) gets a ``'`` before it: it may come from an agent.
    """

    name = "csv"
    suffix = "csv"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield the header, then a row for each result, in the order of their ends."""
        keys = sorted({key for r in run.results() for key in r.score.breakdown})
        header: list[str] = []
        for result in run.results():
            row = _columns(flat_row(run, result), keys)
            if not header:
                header = list(row)
                yield csv_line(header)
            yield csv_line(row.values())


def _columns(row: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return a row with a column for each breakdown key in place of the table."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if name == "breakdown":
            columns |= {f"breakdown.{key}": value.get(key) for key in keys}
        elif name == "failure_modes":
            columns[name] = " ".join(value)
        else:
            columns[name] = value
    return columns


def csv_line(cells: Iterable[Any]) -> str:
    """Return a row, with its line end; None is an empty cell."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(map(_cell, cells))
    return buffer.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return str(value)
    return f"'{value}" if value.startswith(_FORMULA) else value
