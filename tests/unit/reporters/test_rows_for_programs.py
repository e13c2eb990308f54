"""The formats that programs read: json, jsonl, csv."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from support_runs import NOW
from support_runs import reported
from support_runs import result
from support_runs import store_run

from pytest_codegenie.models import RunSummary


KEYS = [
    *("run_id", "task_class", "case_id", "disposition", "agent", "trial", "outcome"),
    *("score", "passed", "breakdown", "failure_modes", "cost_usd", "tokens", "model"),
    *("seconds", "artifacts", "message", "provenance"),
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
        "provenance": "run",
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
        "figures": [
            figures_of("w", passed=0, failed=1, mean_score=0.0),
            figures_of("x", passed=1, failed=0, mean_score=1.0),
        ],
    }
    assert [s.pop("resolve_rate") for s in summaries] == [0.0, 1.0]
    records = [RunSummary.model_validate(s) for s in summaries]
    assert [(r.dataset_name, r.agent_name, r.total) for r in records] == [
        ("demo", "w", 1),
        ("demo", "x", 1),
    ]


def figures_of(agent: str, **values: Any) -> dict[str, Any]:
    """The figures of an agent with one result."""
    return {
        "task_class": "demo",
        "agent": agent,
        "cases": 1,
        "errors": 0,
        "ambiguous": 0,
        "provenance": {"run": 1},
        "score_stddev": None,
        "lower_bound_95": None,
        "lower_bound_note": "too few cases (1 of at least 3)",
        "trials": None,
    } | values


def test_json_has_figures_of_trials_beside_what_is_in_none_of_them(
    tmp_path: Path,
) -> None:
    run = store_run(
        tmp_path,
        [
            *(result(name, trial=trial) for name in "abc" for trial in (1, 2)),
            result("d", "failed", trial=1),
            result("d", trial=2),
            result("e", "error", trial=1),
            result("e", trial=2),
            result("f", disposition="ambiguous", trial=1),
        ],
        trials=2,
    )
    (figures,) = json.loads(reported(run, "json"))["figures"]
    trials = figures["trials"]
    assert figures == figures_of(
        "nop",
        cases=6,
        passed=8,
        failed=1,
        errors=1,
        ambiguous=1,
        provenance={"run": 11},
        mean_score=0.9,
        score_stddev=pytest.approx(0.2236, abs=5e-5),
        lower_bound_note="Clopper-Pearson cap",
        lower_bound_95=pytest.approx(0.05**0.2),
        trials=trials,
    )
    assert trials == {
        "trials": 2,
        "repeated": 4,
        "flipping": 1,
        "flip_share": 0.25,
        "at": [
            {"k": 1, "cases": 5, "left_out": 0, "pass_at": 0.9, "pass_hat": 0.9},
            {"k": 2, "cases": 4, "left_out": 1, "pass_at": 1.0, "pass_hat": 0.75},
        ],
    }


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
