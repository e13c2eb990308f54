"""The home of an installed agent: what is put there, and what is read from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.harness import records
from pytest_codegenie.harness.records import fill_home
from pytest_codegenie.harness.records import read_records


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_texts_and_copies_come_into_the_home(home: Path, tmp_path: Path) -> None:
    login = tmp_path / "login.json"
    login.write_text("{}", encoding="utf-8")
    fill_home(home, {".agent/settings.json": "[]", ".agent/deep/login.json": login})
    assert (home / ".agent/settings.json").read_text("utf-8") == "[]"
    copy = home / ".agent/deep/login.json"
    assert copy.read_text("utf-8") == "{}"
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_copy_of_what_is_not_there_says_so(home: Path, tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match=r"gone\.json cannot be copied"):
        fill_home(home, {"login.json": tmp_path / "gone.json"})


def test_only_regular_files_of_the_patterns_are_read(
    home: Path, tmp_path: Path
) -> None:
    """The home is the agent's: it may hold anything."""
    secret = tmp_path / "secret.jsonl"
    secret.write_text("secret", encoding="utf-8")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.jsonl").write_text("secret", encoding="utf-8")
    sessions = home / "sessions" / "deep"
    sessions.mkdir(parents=True)
    (sessions / "b.jsonl").write_bytes(b"one\n")
    (home / "sessions" / "a.jsonl").write_bytes(b"two")
    (home / "sessions" / "other.txt").write_bytes(b"no")
    (home / "sessions" / "link.jsonl").symlink_to(secret)
    (home / "sessions" / "dir").symlink_to(outside)
    (home / "sessions" / "\x1b.jsonl").write_bytes(b"no")
    os.mkfifo(home / "sessions" / "fifo.jsonl")
    assert read_records(home, ["sessions/*.jsonl"]) == {
        "sessions/a.jsonl": b"two",
        "sessions/deep/b.jsonl": b"one\n",
    }
    assert read_records(home, []) == {}


def test_what_is_read_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_MAX_FILE_BYTES", 10)
    monkeypatch.setattr(records, "_MAX_BYTES", 15)
    for name in ("a", "b", "c"):
        (home / name).write_bytes(b"x" * 100)
    found = read_records(home, ["*"])
    assert {name: len(data) for name, data in found.items()} == {
        "a": 10,
        "b": 5,
        "c": 0,
    }
