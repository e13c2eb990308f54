"""``case.toml``, key by key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from pytest_codegenie.corpus.case_file import KEYS
from pytest_codegenie.corpus.case_file import read_case_file
from pytest_codegenie.corpus.case_file import warn_when_stale
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.models import BenchCase


DIGEST = f"blake3:{'0' * 64}"
#: Key to TOML source: the least that a case needs.
REQUIRED = {
    "case_id": '"first"',
    "task_class": '"demo"',
    "disposition": '"positive"',
    "difficulty": '"easy"',
    "source": '"curated"',
    "curation_class": '"held-out"',
    "added_at": "2026-01-01",
    "last_validated_at": "2026-01-02",
    "cassette_canary_pin": f'"{"0" * 32}"',
}


def read(tmp_path: Path, source: str | Mapping[str, str | None]) -> BenchCase:
    directory = tmp_path / "first"
    directory.mkdir(exist_ok=True)
    if not isinstance(source, str):
        keys = {key: value for key, value in {**REQUIRED, **source}.items() if value}
        source = "".join(f"{key} = {value}\n" for key, value in keys.items())
    (directory / "case.toml").write_text(source, encoding="utf-8")
    return read_case_file(directory, task_class="demo", digest=DIGEST)


def test_the_least_gives_a_case_with_the_defaults_of_the_contract(
    tmp_path: Path,
) -> None:
    case = read(tmp_path, {})
    assert case == BenchCase(
        case_id="first",
        task_class="demo",
        disposition="positive",
        difficulty="easy",
        source="curated",
        curation_class="held-out",
        added_at=dt.date(2026, 1, 1),
        last_validated_at=dt.date(2026, 1, 2),
        cassette_canary_pin="0" * 32,
        case_digest=DIGEST,
        rubric_wall_clock_seconds=60,
        directory=tmp_path / "first",
    )
    assert case.timeout_seconds is None
    assert case.tags == ()


def test_every_key_of_the_contract_is_read(tmp_path: Path) -> None:
    source = {
        "source": '"regression-converted"',
        "commit_sha": '"4f5e"',
        "added_at": "2026-01-01T10:00:00+02:00",
        "case_digest": f'"blake3:{"1" * 64}"',
        "cassette_path": '"input/cassette.jsonl"',
        "timeout_seconds": "90",
        "rubric_wall_clock_seconds": "1.5",
        "tags": '["parsing", "slow"]',
    }
    case = read(tmp_path, source)
    assert set(KEYS) == {*REQUIRED, *source}
    assert case.added_at == dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC)
    assert case.case_digest == f"blake3:{'1' * 64}"
    assert (case.commit_sha, case.cassette_path) == ("4f5e", "input/cassette.jsonl")
    assert (case.timeout_seconds, case.rubric_wall_clock_seconds) == (90, 1.5)
    assert case.tags == ("parsing", "slow")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"2026-11-21"', dt.date(2026, 11, 21)),
        ("2026-11-21", dt.date(2026, 11, 21)),
        ("2026-11-21T00:00:00Z", dt.datetime(2026, 11, 21, tzinfo=dt.UTC)),
        ('"2026-11-21T00:00:00Z"', dt.datetime(2026, 11, 21, tzinfo=dt.UTC)),
    ],
)
def test_a_date_may_stand_in_quotes(
    tmp_path: Path, text: str, value: dt.date | dt.datetime
) -> None:
    added_at = read(tmp_path, {"added_at": text}).added_at
    assert added_at == value
    assert type(added_at) is type(value)


@pytest.mark.parametrize("key", REQUIRED)
def test_a_required_key_that_is_missing_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(BenchCaseLoadError) as caught:
        read(tmp_path, {key: None})
    assert caught.value.args == (
        tmp_path / "first",
        key,
        "required key is missing from case.toml",
    )


A_DATE = "must be a date such as 2026-11-21, or a date-time with a time zone, got "
AN_ID = (
    "must start with a letter or digit and hold only letters, digits, '.', '_' and "
    "'-', 128 at most, got "
)
A_PIN = "must be 32 lower-case hex digits, random and never used before, got "


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("case_id", "1", f"{AN_ID}1"),
        ("case_id", '"a b"', f"{AN_ID}'a b'"),
        ("case_id", '"../x"', f"{AN_ID}'../x'"),
        ("case_id", '"a\\nb"', f"{AN_ID}'a\\nb'"),
        ("case_id", '""', f"{AN_ID}''"),
        ("case_id", '"é"', f"{AN_ID}'é'"),
        ("case_id", f'"{"a" * 255}"', f"{AN_ID}'aaaaaa"),
        (
            "case_id",
            '"second"',
            "is 'second', but the directory is 'first'; make them equal",
        ),
        (
            "task_class",
            '"Demo"',
            "must hold only lower-case letters, digits and '-', got",
        ),
        (
            "task_class",
            '"other"',
            "is 'other', but the case lies in task class 'demo'; make them equal",
        ),
        (
            "disposition",
            '"good"',
            "Input should be 'positive', 'negative' or 'ambiguous', got 'good'",
        ),
        ("disposition", "true", "or 'ambiguous', got True"),
        (
            "difficulty",
            '"EASY"',
            "Input should be 'easy', 'medium' or 'hard', got 'EASY'",
        ),
        (
            "source",
            '"found"',
            "Input should be 'curated', 'outcome-ledger-derived', "
            "'regression-converted' or 'imported', got 'found'",
        ),
        (
            "curation_class",
            '"none"',
            "Input should be 'held-out' or 'rag-corpus-derived', got 'none'",
        ),
        ("commit_sha", "4", "Input should be a valid string, got 4"),
        ("added_at", "[]", f"{A_DATE}[]"),
        ("added_at", "2026-11-21T10:00:00", f"{A_DATE}2026-11-21 10:00:00"),
        ("added_at", '"2026-11-21T10:00"', f"{A_DATE}2026-11-21 10:00:00"),
        ("added_at", "10:00:00", f"{A_DATE}10:00:00"),
        ("added_at", "20261121", f"{A_DATE}20261121"),
        (
            "last_validated_at",
            '"yesterday"',
            "must be an ISO 8601 date such as 2026-11-21, got 'yesterday'",
        ),
        ("cassette_canary_pin", f'"{"0" * 31}"', f"{A_PIN}'{'0' * 31}'"),
        ("cassette_canary_pin", f'"{"A" * 32}"', f"{A_PIN}'{'A' * 32}'"),
        ("cassette_canary_pin", "7", f"{A_PIN}7"),
        ("case_digest", "1", "the digest must be a string, got 1"),
        (
            "case_digest",
            '"sha256:ab"',
            "the digest must start with 'blake3:', got 'sha2",
        ),
        ("case_digest", '"blake3:ab"', "the digest must have 64 hex digits, got 2"),
        ("case_digest", f'"blake3:{"A" * 64}"', "the digest must be lower-case"),
        ("cassette_path", "1", "Input should be a valid string, got 1"),
        *(
            (
                "cassette_path",
                f'"{path}"',
                f"must be a relative path inside the case, got '{path}'",
            )
            for path in ("/etc/passwd", "../x", "input/../../x", "", ".")
        ),
        ("timeout_seconds", "0", "Input should be greater than 0, got 0"),
        ("timeout_seconds", "inf", "Input should be a finite number, got inf"),
        ("timeout_seconds", "nan", "Input should be a finite number, got nan"),
        ("timeout_seconds", "true", "Input should be a valid number, got True"),
        ("timeout_seconds", '"60"', "Input should be a valid number, got '60'"),
        ("timeout_seconds", "9" * 400, "Input should be a valid number, got 9999"),
        ("rubric_wall_clock_seconds", "0", "Input should be greater than 0, got 0"),
        (
            "rubric_wall_clock_seconds",
            "300.5",
            "Input should be less than or equal to 300, got 300.5",
        ),
        ("rubric_wall_clock_seconds", "nan", "got nan"),
        ("tags", '"parsing"', "must be a list of strings, got 'parsing'"),
        ("tags", "[1]", "must be a list of strings, got 1"),
        ("tags", "{a = 1}", "must be a list of strings, got {'a': 1}"),
    ],
)
def test_a_value_that_is_wrong_is_named_with_its_key_and_the_rule(
    tmp_path: Path, key: str, text: str, reason: str
) -> None:
    with pytest.raises(BenchCaseLoadError) as caught:
        read(tmp_path, {key: text})
    assert caught.value.field == key
    assert reason in caught.value.reason
    assert len(caught.value.reason) < 300


@pytest.mark.parametrize("source", ["outcome-ledger-derived", "regression-converted"])
@pytest.mark.parametrize("sha", [None, '""'])
def test_a_case_that_came_from_a_commit_names_it(
    tmp_path: Path, source: str, sha: str | None
) -> None:
    with pytest.raises(BenchCaseLoadError) as caught:
        read(tmp_path, {"source": f'"{source}"', "commit_sha": sha})
    assert caught.value.field == "commit_sha"
    assert caught.value.reason == f"is required where source is {source!r}"


@pytest.mark.parametrize(
    ("source", "field", "reason"),
    [
        (
            {"timeout_secs": "1"},
            "timeout_secs",
            "unknown key in case.toml (did you mean 'timeout_seconds'?); known keys: "
            "case_id, task_class,",
        ),
        ({"directory": '"x"'}, "directory", "unknown key in case.toml; known keys: "),
        ({'"a\\nb"': "1"}, "a\nb", "unknown key in case.toml; known keys: "),
        ({"x": "{y = 1}"}, "x", "unknown key in case.toml; known keys: "),
    ],
)
def test_an_unknown_key_is_named_with_the_known_ones(
    tmp_path: Path, source: dict[str, str], field: str, reason: str
) -> None:
    with pytest.raises(BenchCaseLoadError) as caught:
        read(tmp_path, source)
    assert caught.value.field == field
    assert caught.value.reason.startswith(reason)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("days", "events"),
    [(0, []), (90, []), (91, [91]), (400, [400]), (-5, [])],
)
@pytest.mark.parametrize("kind", ["date", "date-time"])
def test_a_case_is_stale_after_ninety_days_and_only_logged(
    tmp_path: Path, days: int, events: list[int], kind: str
) -> None:
    today = dt.date(2026, 11, 21)
    validated: Any = today - dt.timedelta(days=days)
    if kind == "date-time":
        validated = f"{validated}T23:30:00Z"
    case = read(tmp_path, {"last_validated_at": str(validated)})
    with capture_logs() as logged:
        warn_when_stale(case, today)
    assert logged == [
        {
            "event": "loader.case_stale",
            "log_level": "warning",
            "case_id": "first",
            "days": event,
        }
        for event in events
    ]


def test_a_case_that_lies_elsewhere_is_refused(tmp_path: Path) -> None:
    read(tmp_path, {})
    elsewhere = tmp_path / "elsewhere.toml"
    path = tmp_path / "first/case.toml"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    link = "is a symbolic link; a case has files of its own"
    with pytest.raises(BenchCaseLoadError) as caught:
        read_case_file(tmp_path / "first", task_class="demo", digest=DIGEST)
    assert (caught.value.field, caught.value.reason) == ("case.toml", link)

    (tmp_path / "second").symlink_to(tmp_path / "first")
    with pytest.raises(BenchCaseLoadError) as caught:
        read_case_file(tmp_path / "second", task_class="demo", digest=DIGEST)
    assert (caught.value.field, caught.value.reason) == ("directory", link)
