"""Results as a data frame and as a Parquet file: columns, types, what is unknown."""

from __future__ import annotations

import datetime as dt
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from support_runs import NOW
from support_runs import result
from support_runs import store_run

from pytest_codegenie import load_run
from pytest_codegenie.evidence import frames
from pytest_codegenie.evidence.frames import COLUMNS
from pytest_codegenie.evidence.frames import to_parquet
from pytest_codegenie.evidence.stored import StoredRun
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.csv_rows import CsvReporter
from pytest_codegenie.reporters.protocol import Form


RESULTS = [
    result(
        "b",
        "failed",
        score=0.5,
        mode="not_resolved",
        breakdown={"fixed": 0.5},
        cost=0.25,
        tokens=1200,
        model="a-model",
        message="=über",
        started_at=dt.datetime(
            2026, 11, 21, 13, tzinfo=dt.timezone(dt.timedelta(0, 7200))
        ),
    ),
    result("a", breakdown={"scope": 1.0}),
    result("c", "error", output=None, timings={}, disposition="negative"),
]


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return store_run(tmp_path, RESULTS)


def frame_of(run: StoredRun) -> pd.DataFrame:
    return load_run(run.directory).to_pandas()


def test_a_frame_has_the_columns_of_the_csv_and_more(run: StoredRun) -> None:
    frame = frame_of(run)
    (header, *_) = "".join(CsvReporter().report(run, Form())).splitlines()
    names = header.split(",")
    assert list(frame.columns)[: len(names)] == names
    assert list(frame.columns)[len(names) :] == [
        *("difficulty", "curation_class", "agent_name", "workspace", "attempt"),
        *("started_at", "ended_at", "case_digest", "rubric_digest"),
        "harness_version",
    ]
    assert list(frame["case_id"]) == ["b", "a", "c"]


def test_values_have_their_types(run: StoredRun) -> None:
    frame = frame_of(run)
    kinds = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    assert {name for name, kind in kinds.items() if kind == "category"} == {
        *("run_id", "task_class", "case_id", "disposition", "agent", "outcome"),
        *("model", "difficulty", "curation_class", "agent_name", "workspace"),
        *("provenance", "case_digest", "rubric_digest", "harness_version"),
    }
    assert {name: kind for name, kind in kinds.items() if kind != "category"} == {
        "trial": "int64",
        "score": "float64",
        "passed": "boolean",
        "breakdown.fixed": "float64",
        "breakdown.scope": "float64",
        "failure_modes": "object",
        "cost_usd": "float64",
        "tokens": "Int64",
        "seconds": "float64",
        "artifacts": "string",
        "message": "string",
        "attempt": "int64",
        "started_at": "datetime64[us, UTC]",
        "ended_at": "datetime64[us, UTC]",
    }
    # All that there are, so that a count shows what did not happen.
    outcome = frame["outcome"].cat.categories
    assert list(outcome) == ["passed", "failed", "error"]
    assert frame["outcome"].value_counts().to_dict() == dict.fromkeys(outcome, 1)
    assert list(frame["model"].cat.categories) == ["a-model"]


def test_what_is_unknown_is_missing_and_never_a_figure(run: StoredRun) -> None:
    b, a, c = (row for _, row in frame_of(run).iterrows())
    assert (b["score"], b["cost_usd"], b["tokens"]) == (0.5, 0.25, 1200)
    assert (b["failure_modes"], a["failure_modes"]) == (["not_resolved"], [])
    assert (b["message"], a["message"]) == ("=über", "")
    assert [b["passed"], a["passed"]] == [False, True]
    assert (b["breakdown.fixed"], a["breakdown.scope"]) == (0.5, 1.0)
    assert pd.isna([a["cost_usd"], a["tokens"], a["model"], a["breakdown.fixed"]]).all()
    unknown = ["score", "passed", "seconds", "cost_usd", "artifacts"]
    assert pd.isna([c[name] for name in unknown]).all()
    assert frame_of(run)["score"].mean() == 0.75


def test_times_are_in_utc_whatever_they_were_written_in(run: StoredRun) -> None:
    frame = frame_of(run)
    assert frame["started_at"][0] == pd.Timestamp("2026-11-21T11:00:00Z")
    assert frame["ended_at"][0] == pd.Timestamp(NOW)
    assert str(frame["started_at"].dt.tz) == "UTC"


def test_a_run_without_results_has_the_columns_with_their_types(tmp_path: Path) -> None:
    empty = frame_of(store_run(tmp_path / "empty", [], selected=["a[nop]"]))
    assert len(empty) == 0
    one = frame_of(store_run(tmp_path / "one", [result("a")]))
    assert list(empty.columns) == list(one.columns)
    kinds = [{n: d.kind for n, d in f.dtypes.items()} for f in (empty, one)]
    assert kinds[0] == kinds[1]
    assert list(empty["outcome"].cat.categories) == ["passed", "failed", "error"]
    assert str(empty["ended_at"].dtype) == "datetime64[us, UTC]"


def test_the_latest_try_of_a_case_is_the_one_that_is_shown(tmp_path: Path) -> None:
    tries = [result("a", "error"), result("a").model_copy(update={"attempt": 2})]
    frame = frame_of(store_run(tmp_path, tries))
    assert [(r["outcome"], r["attempt"]) for _, r in frame.iterrows()] == [
        ("passed", 2)
    ]


def test_parquet_has_the_same_rows_with_types_of_its_own(run: StoredRun) -> None:
    table = pq.read_table(io.BytesIO(to_parquet(run)))
    frame = frame_of(run)
    assert table.column_names == list(frame.columns)
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds["score"] == kinds["breakdown.scope"] == "double"
    assert kinds["passed"] == "bool"
    assert kinds["tokens"] == kinds["trial"] == "int64"
    assert kinds["started_at"] == "timestamp[us, tz=UTC]"
    assert kinds["failure_modes"].startswith("list<")
    rows = table.to_pylist()
    assert [row["case_id"] for row in rows] == ["b", "a", "c"]
    assert rows[0]["failure_modes"] == ["not_resolved"]
    assert rows[0]["started_at"] == dt.datetime(2026, 11, 21, 11, tzinfo=dt.UTC)
    assert rows[0]["message"] == "=über"
    assert [row["score"] for row in rows] == [0.5, 1.0, None]
    assert [row["tokens"] for row in rows] == [1200, None, None]


def test_parquet_says_of_each_column_what_it_is(run: StoredRun) -> None:
    schema = pq.read_schema(io.BytesIO(to_parquet(run)))
    about = {column.name: column for column in COLUMNS}
    for field in schema:
        column = about[field.name.partition(".")[0]]
        assert field.metadata[b"about"].decode() == column.about
        assert field.nullable is column.optional


def test_parquet_is_written_by_batches(
    run: StoredRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "_BATCH", 2)
    file = pq.ParquetFile(io.BytesIO(to_parquet(run)))
    assert file.metadata.num_row_groups == 2
    assert file.read()["case_id"].to_pylist() == ["b", "a", "c"]


def test_parquet_without_rows_has_the_columns(tmp_path: Path) -> None:
    table = pq.read_table(io.BytesIO(to_parquet(store_run(tmp_path, []))))
    assert table.num_rows == 0
    assert table.column_names == [c.name for c in COLUMNS if c.name != "breakdown"]


def test_every_field_of_a_result_is_a_column_or_left_out_on_purpose() -> None:
    """So that a new field is thought of."""
    elsewhere = {
        "score": "score, passed, breakdown.*, failure_modes",
        "output": "cost_usd, tokens, model, artifacts",
        "timings": "seconds",
        "kept_workspace": "of this machine",
    }
    columns = {column.name for column in COLUMNS}
    assert set(CaseResult.model_fields) - set(elsewhere) <= columns


@pytest.mark.parametrize(
    ("package", "extra"), [("pandas", "pandas"), ("pyarrow", "parquet")]
)
def test_what_is_not_installed_is_named_with_its_extra(
    run: StoredRun, monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    # None in sys.modules is how Python itself marks what cannot be imported.
    monkeypatch.setitem(sys.modules, package, None)
    make = {"pandas": frame_of, "pyarrow": to_parquet}[package]
    with pytest.raises(ImportError, match=package) as excinfo:
        make(run)
    assert str(excinfo.value) == (
        f"{package} is not installed: pip install 'pytest-codegenie[{extra}]'"
    )


def test_reading_a_run_imports_neither(run: StoredRun) -> None:
    code = (
        "import sys, pytest_codegenie\n"
        "pytest_codegenie.load_run(sys.argv[1]).results\n"
        "import pytest_codegenie.evidence.frames\n"
        "print(sorted({'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(run.directory)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == "[]\n"
