"""Marks on cases, and what is known of them, as files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import tomli_w
from support import Bench

from pytest_codegenie.corpus.case_file import read_case_table
from pytest_codegenie.corpus.reproduction import TAG
from pytest_codegenie.corpus.reproduction import Reproduction
from pytest_codegenie.corpus.reproduction import labelled_disposition
from pytest_codegenie.corpus.reproduction import mark_case
from pytest_codegenie.corpus.reproduction import read_reproductions
from pytest_codegenie.corpus.reproduction import write_reproductions


DAY = dt.date(2026, 11, 22)
GOOD = Reproduction(
    reproduces=True,
    disposition="negative",
    case_digest=f"blake3:{'0' * 64}",
    workspace="host",
    day=DAY,
)
BAD = Reproduction(
    reproduces=False,
    reason="hangs",
    detail='with the gold patch, it ran "too" long\n\\ and so on',
    tests=("a b::c[x y", "é::ü"),
    disposition="negative",
    case_digest=f"blake3:{'0' * 64}",
    python="3.9",
    workspace="sandbox",
    day=DAY,
)


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    assert read_reproductions(tmp_path) == {}
    found = {"z.1": BAD, "a-case": GOOD}
    write_reproductions(tmp_path, found)
    assert read_reproductions(tmp_path) == found
    text = (tmp_path / "reproduction.toml").read_text("utf-8")
    assert text.startswith("# Written by codegenie verify --oracle: ")
    assert text.index("a-case") < text.index("z.1")
    write_reproductions(tmp_path, dict(reversed(found.items())))
    assert (tmp_path / "reproduction.toml").read_text("utf-8") == text


def test_a_mark_comes_and_goes_and_the_rest_stays(tmp_path: Path) -> None:
    before: dict[str, Any] = {
        "case_id": "c",
        "disposition": "negative",
        "last_validated_at": dt.date(2020, 1, 1),
        "timeout_seconds": 1.5,
        "tags": ["one", "two"],
    }
    (tmp_path / "case.toml").write_text(tomli_w.dumps(before), encoding="utf-8")
    mark_case(tmp_path, BAD)
    marked = read_case_table(tmp_path)
    assert marked == before | {"disposition": "ambiguous", "tags": ["one", "two", TAG]}
    mark_case(tmp_path, BAD)
    assert read_case_table(tmp_path) == marked
    mark_case(tmp_path, GOOD)
    assert read_case_table(tmp_path) == before | {"last_validated_at": DAY}


def test_a_mark_without_other_tags_leaves_no_key(tmp_path: Path) -> None:
    table = {"disposition": "negative", "last_validated_at": DAY}
    (tmp_path / "case.toml").write_text(tomli_w.dumps(table), encoding="utf-8")
    mark_case(tmp_path, BAD)
    assert read_case_table(tmp_path)["tags"] == [TAG]
    mark_case(tmp_path, GOOD)
    assert read_case_table(tmp_path) == table


def test_what_a_case_was_before_its_mark_is_known(bench: Bench) -> None:
    bench.case("plain")
    bench.case("marked", keys={"tags": f'["{TAG}"]'})
    path = bench.cases_dir / "marked" / "case.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"positive"', '"ambiguous"'), encoding="utf-8")
    plain, marked = bench.load("plain"), bench.load("marked")
    assert labelled_disposition(plain, {"plain": BAD}) == "positive"
    assert labelled_disposition(marked, {"marked": BAD}) == "negative"
    # Somebody removed the file.
    assert labelled_disposition(marked, {}) == "positive"
