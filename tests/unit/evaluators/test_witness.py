"""A report is believed as far as its lines are signed and agree with the rest."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support import Bench

from pytest_codegenie.evaluators.witness import disagreements
from pytest_codegenie.evaluators.witness import make_result
from pytest_codegenie.evaluators.witness import read_report
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import run


KEY = b"k" * 32
NONCE = "n" * 32


def event(kind: str, **values: Any) -> dict[str, Any]:
    return {"kind": kind, **values}


def case(test: str, outcome: str = "passed", **values: Any) -> dict[str, Any]:
    defaults = {"when": "call", "xfail": False, "raised": False, "text": ""}
    return event("test", test=test, outcome=outcome, **(defaults | values))


def signed(data: bytes, key: bytes = KEY) -> bytes:
    code = hashlib.blake2b(data, key=key, digest_size=16).hexdigest()
    return code.encode() + b" " + data + b"\n"


def write(path: Path, *events: dict[str, Any], key: bytes = KEY) -> Path:
    path.write_bytes(
        b"".join(
            signed(json.dumps(one | {"number": number}).encode(), key)
            for number, one in enumerate(events)
        )
    )
    return path


def ended(exit_code: int = 1, *, timed_out: bool = False) -> Completed:
    return Completed(exit_code, b"", b"", timed_out, 1.0, 0)


BEGAN = event("began")
COLLECTED = event("collected", tests=["a", "b"], canaries={"c": NONCE})
CANARY = case("c", "failed", text=f"AssertionError: {NONCE}", raised=True)
FINISHED = event("finished", exit_code=1)
WHOLE = (BEGAN, COLLECTED, case("a"), CANARY, case("b"), FINISHED)


def judge(
    path: Path, *events: dict[str, Any], completed: Completed | None = None
) -> tuple[bool, tuple[str, ...]]:
    """Return whether all is resolved, and what does not agree."""
    report = read_report(write(path, *events), KEY)
    completed = completed or ended()
    result = make_result("i", report, ["a"], ["b"], completed)
    return result.resolved, disagreements(report, ["a", "b"], completed)


def test_a_whole_report_resolves(tmp_path: Path) -> None:
    assert judge(tmp_path / "report", *WHOLE) == (True, ())


DISAGREEING = {
    "exit code 0": (WHOLE, ended(0), "ended with exit code 0, though a planted test"),
    "other exit code": (WHOLE, ended(5), "exit code 5, but its report says 1"),
    "no end": (WHOLE[:-1], ended(), "all tests passed, but the test run did not come"),
    "planted test left out": (
        (BEGAN, COLLECTED, case("a"), case("b"), FINISHED),
        ended(),
        "all tests passed, but a planted test among them did not run",
    ),
    "planted test skipped": (
        (*WHOLE[:3], case("c", "skipped", when="setup"), *WHOLE[4:]),
        ended(),
        "all tests passed, but a planted test among them did not run",
    ),
    "planted test passed": (
        (*WHOLE[:3], case("c"), *WHOLE[4:]),
        ended(),
        "a planted test that must fail did not fail",
    ),
    "planted test failed otherwise": (
        (*WHOLE[:3], case("c", "failed", text="other"), *WHOLE[4:]),
        ended(),
        "a planted test failed in another way than it must",
    ),
    "stranger": (
        (*WHOLE[:-1], case("d"), FINISHED),
        ended(),
        "tests are reported that were not asked for: d",
    ),
    "not run": (
        (BEGAN, COLLECTED, CANARY, case("a"), FINISHED),
        ended(),
        "tests were collected but not run: b",
    ),
    "raised, but passed": (
        (BEGAN, COLLECTED, case("a", raised=True), CANARY, case("b"), FINISHED),
        ended(),
        "tests failed, but are reported as passed: a",
    ),
    "intrusion": (
        (*WHOLE[:-1], event("intrusion", text="x was replaced"), FINISHED),
        ended(),
        "x was replaced",
    ),
}


@pytest.mark.parametrize(
    ("events", "completed", "words"), DISAGREEING.values(), ids=DISAGREEING.keys()
)
def test_what_does_not_agree_is_said(
    tmp_path: Path, events: tuple[dict[str, Any], ...], completed: Completed, words: str
) -> None:
    _, found = judge(tmp_path / "report", *events, completed=completed)
    assert any(words in one for one in found), found


UNFINISHED = {
    "crash": ((BEGAN, COLLECTED, case("a")), ended(-11)),
    "crash at the end": (WHOLE, ended(-11)),
    "nothing begun": ((BEGAN,), ended(2)),
    "interrupted": ((*WHOLE[:3], event("finished", exit_code=2)), ended(2)),
    "out of time": (WHOLE[:3], ended(-15, timed_out=True)),
    "out of time, then tidy": (WHOLE, ended(1, timed_out=True)),
    "module skipped": (
        (
            BEGAN,
            COLLECTED,
            *(case(test, "skipped", when="setup") for test in "abc"),
            event("finished", exit_code=0),
        ),
        ended(0),
    ),
}


@pytest.mark.parametrize(
    ("events", "completed"), UNFINISHED.values(), ids=UNFINISHED.keys()
)
def test_a_run_that_broke_off_is_no_tampering_and_resolves_nothing(
    tmp_path: Path, events: tuple[dict[str, Any], ...], completed: Completed
) -> None:
    assert judge(tmp_path / "report", *events, completed=completed) == (False, ())


FORGED = {
    "not signed": lambda good: good + json.dumps(case("a")).encode() + b"\n",
    "other key": lambda good: good + signed(b'{"kind": "began", "number": 6}', b"x"),
    "replayed": lambda good: good + good.splitlines(keepends=True)[2],
    "left out": lambda good: b"".join(good.splitlines(keepends=True)[1:]),
    "reordered": lambda good: b"".join(good.splitlines(keepends=True)[::-1]),
    "binary": lambda good: good + b"\xff\0\n",
    "unknown kind": lambda good: good + signed(b'{"kind": "x", "number": 6}'),
    "no object": lambda good: good + signed(b"[]"),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_a_forged_line_is_found(tmp_path: Path, forge: Any) -> None:
    path = write(tmp_path / "report", *WHOLE)
    path.write_bytes(forge(path.read_bytes()))
    report = read_report(path, KEY)
    assert report.malformed.endswith("is not the test run's own")
    assert f"written to: {report.malformed}" in disagreements(report, [], ended())[0]


def test_a_line_that_was_cut_off_is_no_forgery(tmp_path: Path) -> None:
    path = write(tmp_path / "report", *WHOLE)
    path.write_bytes(path.read_bytes()[:-5])
    report = read_report(path, KEY)
    assert not report.malformed
    assert report.exit_code is None


@pytest.mark.parametrize("kind", ["missing", "link", "fifo", "directory"])
def test_what_is_no_report_says_nothing_and_holds_nobody_up(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "report"
    if kind == "link":
        path.symlink_to(write(tmp_path / "other", *WHOLE))
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    assert not read_report(path, KEY).began


@pytest.mark.parametrize(
    ("may_fail", "outcome", "status"),
    [
        (True, "skipped", "passed"),
        (False, "skipped", "skipped"),
        (False, "passed", "passed"),
    ],
)
def test_an_expected_failure_counts_where_the_file_speaks_of_it(
    tmp_path: Path, may_fail: bool, outcome: str, status: str
) -> None:
    path = write(tmp_path / "report", case("a", outcome, xfail=True, raised=True))
    report = read_report(path, KEY, may_fail={"a": may_fail}.__getitem__)
    assert report.statuses == {"a": status}


def test_an_interpreter_without_pytest_is_no_fault_of_the_patch(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.case()
    run(["true"], cwd=tmp_path, env={"PATH": os.defpath})  # a supervisor is up
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho No module named pytest >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    result = bench.run()
    assert result.outcome == "error"
    assert result.score.failure_modes[0].code == "evaluator.error"
    assert result.message == (
        f"pytest cannot be run with {broken}: No module named pytest"
    )
