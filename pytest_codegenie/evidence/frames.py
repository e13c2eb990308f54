"""Results as a table with typed columns: a pandas data frame, or a Parquet file.

One row for each result, each trial of a case one, in the order in which they ended.
pandas and pyarrow are imported on use.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from typing import Any
from typing import Literal
from typing import get_args

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.evidence.rows import flat_row
from pytest_codegenie.evidence.stored import StoredRun
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import CurationClass
from pytest_codegenie.models import Difficulty
from pytest_codegenie.models import Disposition
from pytest_codegenie.models import Outcome
from pytest_codegenie.models import Provenance


if TYPE_CHECKING:
    import pandas as pd


#: ``category`` is text of which there are few; ``texts`` is a list of text.
Kind = Literal["category", "text", "texts", "truth", "count", "number", "time"]

_BREAKDOWN = "breakdown"
#: Rows that are held at a time.
_BATCH = 5_000


class FramesUnavailable(CodegenieError, ImportError):
    """What makes tables is not installed; the message names the extra."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return (
            f"{self.package} is not installed: pip install "
            f"'pytest-codegenie[{self.extra}]'"
        )


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table."""

    name: str
    kind: Kind
    about: str
    #: Whether it may be empty.
    optional: bool = False
    #: Of a category: all that it may be; none: what the run has.
    values: tuple[str, ...] = ()


#: As the other formats have them.
_FLAT = (
    Column("run_id", "category", "the run's id"),
    Column("task_class", "category", "the task class's name"),
    Column("case_id", "category", "the case's id"),
    Column("disposition", "category", "of the case", values=get_args(Disposition)),
    Column("agent", "category", "the agent's label"),
    Column("trial", "count", "which trial of the case, 1-based"),
    Column("outcome", "category", "how it ended", values=get_args(Outcome)),
    Column("score", "number", "in [0, 1]; empty where nothing was judged", True),
    Column("passed", "truth", "empty where nothing was judged", True),
    Column(_BREAKDOWN, "number", "the rubric's figure; empty without one", True),
    Column("failure_modes", "texts", "codes, as many as there are"),
    Column("cost_usd", "number", "as the agent reported; empty: unknown", True),
    Column("tokens", "count", "as the agent reported; empty: unknown", True),
    Column("model", "category", "as the agent reported; empty: unknown", True),
    Column("seconds", "number", "of all phases together", True),
    Column("artifacts", "text", "where they are, relative to the run", True),
    Column("message", "text", "why it did not pass; empty text where it did"),
    Column(
        "provenance",
        "category",
        "where the result comes from",
        values=get_args(Provenance),
    ),
)
#: Fields of a result besides.
_MORE = (
    Column("difficulty", "category", "of the case", values=get_args(Difficulty)),
    Column("curation_class", "category", "of the case", values=get_args(CurationClass)),
    Column("agent_name", "category", "which agent the label is of"),
    Column("workspace", "category", "where the case was run"),
    Column("attempt", "count", "which try it is, 1-based; the latest alone is shown"),
    Column("started_at", "time", "in UTC"),
    Column("ended_at", "time", "in UTC"),
    Column("case_digest", "category", "of the case's files"),
    Column("rubric_digest", "category", "of the task class's own code"),
    Column("harness_version", "category", "of pytest-codegenie"),
)
#: In their order. ``breakdown`` stands for one column for each breakdown key.
COLUMNS = _FLAT + _MORE


def typed_columns(breakdown_keys: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a run, with one for each breakdown key."""
    columns: list[Column] = []
    for column in COLUMNS:
        if column.name != _BREAKDOWN:
            columns.append(column)
            continue
        columns += [
            Column(f"{_BREAKDOWN}.{key}", column.kind, column.about, optional=True)
            for key in breakdown_keys
        ]
    return tuple(columns)


def typed_row(
    run: StoredRun, result: CaseResult, columns: Sequence[Column]
) -> dict[str, Any]:
    """Return a result's row: a value for each column, None for empty."""
    row = dict(flat_row(run, result))
    breakdown = row.pop(_BREAKDOWN)
    row |= {f"{_BREAKDOWN}.{key}": value for key, value in breakdown.items()}
    row |= {column.name: getattr(result, column.name) for column in _MORE}
    for name in ("started_at", "ended_at"):
        row[name] = row[name].astimezone(dt.UTC)
    return {column.name: row.get(column.name) for column in columns}


def _breakdown_keys(results: Iterable[CaseResult]) -> list[str]:
    return sorted({key for one in results for key in one.score.breakdown})


# -- pandas --------------------------------------------------------------------------

_DTYPES: Mapping[Kind, Any] = {
    "text": "string",
    "texts": "object",
    "truth": "boolean",
    "count": "Int64",
    "number": "float64",
    "time": "datetime64[us, UTC]",
}


def to_pandas(run: StoredRun, results: Sequence[CaseResult]) -> pd.DataFrame:
    """Return results as a data frame; without any, its columns.

    Args:
        run: Whose they are.
        results: In the order of the rows.

    Raises:
        FramesUnavailable: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as exc:
        raise FramesUnavailable("pandas", "pandas") from exc
    columns = typed_columns(_breakdown_keys(results))
    rows = [typed_row(run, result, columns) for result in results]
    return pd.DataFrame(
        {
            column.name: pd.Series(
                [row[column.name] for row in rows], dtype=_dtype(column, rows)
            )
            for column in columns
        }
    )


def _dtype(column: Column, rows: Sequence[Mapping[str, Any]]) -> Any:
    import pandas as pd

    if column.kind == "count" and not column.optional:
        return "int64"
    if column.kind != "category":
        return _DTYPES[column.kind]
    present = {row[column.name] for row in rows} - {None}
    # Text, also where there is none: an empty list would be categories of objects.
    values = pd.Index(column.values or sorted(present), dtype="string")
    return pd.CategoricalDtype(values)


# -- Parquet -------------------------------------------------------------------------


def to_parquet(run: StoredRun) -> bytes:
    """Return a run's results as a Parquet file.

    The columns are those of the data frame, each with what it is in its metadata
    (``about``). What is a category there is text here: Parquet keeps each text once.

    Raises:
        FramesUnavailable: pyarrow is not installed.
        RunStoreError: A result cannot be read.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as exc:
        raise FramesUnavailable("pyarrow", "parquet") from exc
    columns = typed_columns(_breakdown_keys(run.results()))
    schema = _schema(columns)
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema) as writer:
        for rows in _batches(run, columns):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    return buffer.getvalue()


def _batches(
    run: StoredRun, columns: Sequence[Column]
) -> Iterator[list[dict[str, Any]]]:
    rows = (typed_row(run, result, columns) for result in run.results())
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _schema(columns: Sequence[Column]) -> Any:
    import pyarrow as pa

    types = {
        "category": pa.string(),
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "truth": pa.bool_(),
        "count": pa.int64(),
        "number": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema(
        [
            pa.field(
                column.name,
                types[column.kind],
                nullable=column.optional,
                metadata={"about": column.about},
            )
            for column in columns
        ]
    )
