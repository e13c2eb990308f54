"""The formats that programs read: json, jsonl, csv."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support_runs import NOW
from support_runs import reported
from support_runs import result
from support_runs import store_run

from pytest_codegenie.models import RunSummary


KEYS = [
    *("run_id", "task_class", "case_id", "disposition", "agent", "trial", "outcome"),
    *("score", "passed", "breakdown", "failure_modes", "cost_usd", "tokens", "model"),
    *("seconds", "artifacts", "message"),
]


def test_jsonl_has_a_flat_line_for_each_result_in_their_order(tmp_path: Path) -> None:
    run = store_run(
        tmp_path,
        [
            result(
                "b",
                "failed",
                score=0.5,
                mode="not_resolved",
                breakdown={"fixed": 0.5},
                cost=0.25,
                tokens=1200,
                model="a-model",
                artifacts={"patch": "cases/b/nop-t1/patch.diff"},
                message="über\nzwei",
            ),
            result("a"),
        ],
    )
    first, second = map(json.loads, reported(run, "jsonl").splitlines())
    assert list(first) == KEYS
    assert first == {
        "run_id": "example",
        "task_class": "demo",
        "case_id": "b",
        "disposition": "positive",
        "agent": "nop",
        "trial": 1,
        "outcome": "failed",
        "score": 0.5,
        "passed": False,
        "breakdown": {"fixed": 0.5},
        "failure_modes": ["not_resolved"],
        "cost_usd": 0.25,
        "tokens": 1200,
        "model": "a-model",
        "seconds": 1.5,
        "artifacts": "cases/b/nop-t1",
        "message": "über\nzwei",
    }
    assert (second["case_id"], second["outcome"]) == ("a", "passed")


def test_what_is_unknown_is_null_and_zero_is_zero(tmp_path: Path) -> None:
    run = store_run(
        tmp_path,
        [
            result("silent"),
            result("free", cost=0.0, tokens=0),
            result("broke", "error", output=None, timings={}),
        ],
    )
    silent, free, broke = map(json.loads, reported(run, "jsonl").splitlines())
    assert [silent[key] for key in ("cost_usd", "tokens", "model", "artifacts")] == (
        [None] * 4
    )
    assert (free["cost_usd"], free["tokens"]) == (0.0, 0)
    assert [broke[key] for key in ("score", "passed", "seconds", "cost_usd")] == (
        [None] * 4
    )


def test_json_has_what_the_run_was_and_a_summary_for_each_group(
    tmp_path: Path,
) -> None:
    run = store_run(
        tmp_path,
        [result("b", agent="x"), result("a", "failed", agent="w")],
        selected=["b[x]", "a[w]", "c[w]"],
    )
    report = json.loads(reported(run, "json"))
    summaries = report.pop("summaries")
    assert report == {
        "run_id": "example",
        "started_at": NOW.isoformat(),
        "ended_at": NOW.isoformat(),
        "finished": False,
        "selected": 3,
        "without_result": ["c[w]"],
        "versions": {"pytest-codegenie": "0", "pytest": "9"},
    }
    assert [s.pop("resolve_rate") for s in summaries] == [0.0, 1.0]
    records = [RunSummary.model_validate(s) for s in summaries]
    assert [(r.dataset_name, r.agent_name, r.total) for r in records] == [
        ("demo", "w", 1),
        ("demo", "x", 1),
    ]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_has_a_row_for_each_result_and_a_column_for_each_breakdown_key(
    tmp_path: Path,
) -> None:
    run = store_run(
        tmp_path,
        [
            result("b", "failed", score=0.5, mode="m", breakdown={"kept": 1.0}),
            result("a", breakdown={"fixed": 0.25}, cost=0.0),
        ],
    )
    text = reported(run, "csv")
    assert text.count("\r\n") == 3
    first, second = rows(text)
    place = KEYS.index("breakdown")
    columns = [*KEYS[:place], "breakdown.fixed", "breakdown.kept", *KEYS[place + 1 :]]
    assert list(first) == columns
    assert (first["case_id"], first["score"], first["passed"]) == ("b", "0.5", "false")
    assert (first["breakdown.fixed"], first["breakdown.kept"]) == ("", "1.0")
    assert (second["breakdown.fixed"], second["breakdown.kept"]) == ("0.25", "")
    assert (first["failure_modes"], first["cost_usd"]) == ("m", "")
    assert second["cost_usd"] == "0.0"


@pytest.mark.parametrize(
    ("said", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("a=1", "a=1"),
        ('say "x", y\nand\r\nmore', 'say "x", y\nand\r\nmore'),
    ],
)
def test_a_cell_of_csv_is_text_whatever_an_agent_says(
    tmp_path: Path, said: str, cell: str
) -> None:
    run = store_run(tmp_path, [result("a", message=said, model=said)])
    (row,) = rows(reported(run, "csv"))
    assert (row["message"], row["model"]) == (cell, cell)


def test_numbers_of_csv_are_no_text_below_zero_either(tmp_path: Path) -> None:
    run = store_run(tmp_path, [result("a", breakdown={"change": -0.5})])
    (row,) = rows(reported(run, "csv"))
    assert row["breakdown.change"] == "-0.5"
