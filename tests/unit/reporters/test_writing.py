"""Any reporter's text, whole or not at all, and what holds for all that ship."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support_runs import reported
from support_runs import result
from support_runs import store_run

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.models import CaseResult
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part
from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters import report_text
from pytest_codegenie.reporters import write_report
from pytest_codegenie.reporters.writing import ReportError


NAMES = tuple(BUILTIN_PARTS.reporters)


class Own:
    """Somebody's reporter."""

    name = "own"
    suffix: Any = "own"

    def __init__(self, *pieces: Any) -> None:
        self.pieces = pieces

    def report(self, run: StoredRun, form: Form) -> Iterable[str]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return store_run(tmp_path, [result("a"), result("b", "failed")])


@pytest.mark.parametrize("name", NAMES)
def test_a_report_can_be_made_again_and_changes_nothing(
    run: StoredRun, name: str
) -> None:
    before = listing(run.directory)
    text = reported(run, name)
    assert text.endswith("\n")
    assert reported(run, name) == text
    assert listing(run.directory) == before


def listing(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_written_under_its_suffix(run: StoredRun, name: str) -> None:
    reporter = make_part("reporter", name, BUILTIN_PARTS.reporters)
    assert reporter.name == name
    path = write_report(name, reporter, run)
    assert path == run.directory / f"report.{reporter.suffix}"
    assert path.read_bytes() == reported(run, name).encode()


def test_every_suffix_is_its_own() -> None:
    makers = [make_part("reporter", n, BUILTIN_PARTS.reporters) for n in NAMES]
    assert sorted(reporter.suffix for reporter in makers) == [
        *("csv", "json", "jsonl", "md", "predictions.jsonl", "txt", "xml"),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_result_that_cannot_be_read_is_said_and_nothing_is_written(
    run: StoredRun, name: str
) -> None:
    results = run.directory / "results.jsonl"
    results.write_bytes(results.read_bytes() + b"{}\n")
    reporter = make_part("reporter", name, BUILTIN_PARTS.reporters)
    with pytest.raises(RunStoreError, match="line 3 is no result: "):
        write_report(name, reporter, run)
    assert {path.name for path in run.directory.iterdir()} == {
        *("run.json", "results.jsonl"),
    }


@pytest.mark.parametrize(
    ("reporter", "message"),
    [
        (
            Own("x", ValueError("of\n\x1b its")),
            r"reporter 'r': broke: ValueError: of \x1b its",
        ),
        (
            Own("x", b"bytes"),
            "reporter 'r': broke: TypeError: report() gave b'bytes', which is no str",
        ),
        (Own("\ud800"), "reporter 'r': gave what is no text: "),
        (object(), "reporter 'r': broke: AttributeError: "),
    ],
)
def test_a_reporter_that_breaks_is_named_and_leaves_nothing(
    run: StoredRun, reporter: Any, message: str
) -> None:
    before = listing(run.directory)
    with pytest.raises(ReportError) as caught:
        report_text("r", reporter, run)
    assert str(caught.value).startswith(message)
    with pytest.raises(ReportError):
        write_report("r", reporter, run)
    assert listing(run.directory) == before


def test_pieces_follow_one_another_and_one_text_is_a_piece(run: StoredRun) -> None:
    assert report_text("own", Own("a", "b", "\n"), run) == "ab\n"

    class Whole(Own):
        def report(self, run: StoredRun, form: Form) -> str:
            return "all of it"

    assert report_text("own", Whole(), run) == "all of it"


def test_what_cannot_be_cut_is_refused_where_it_is_too_long(run: StoredRun) -> None:
    assert report_text("own", Own("ä"), run, Form(max_bytes=2)) == "ä"
    with pytest.raises(ReportError) as caught:
        report_text("own", Own("ää"), run, Form(max_bytes=3))
    assert str(caught.value) == (
        "reporter 'own': the report has 4 bytes, 3 is the limit, and this format "
        "cannot be cut; 'markdown' can"
    )


@pytest.mark.parametrize("suffix", [None, "", "../x", "a/b", "A B", ".x", 3])
def test_a_suffix_must_be_one(run: StoredRun, suffix: Any) -> None:
    reporter = Own("x")
    reporter.suffix = suffix
    with pytest.raises(ReportError) as caught:
        write_report("own", reporter, run)
    assert str(caught.value) == (
        "reporter 'own': its suffix must be that of a file, lower-case letters and "
        f"digits such as 'md', got {suffix!r}"
    )


def test_a_report_that_cannot_be_written_is_said(run: StoredRun) -> None:
    (run.directory / "report.own").mkdir()
    with pytest.raises(ReportError) as caught:
        write_report("own", Own("x"), run)
    assert caught.value.reason.endswith("report.own cannot be written: Is a directory")


@pytest.mark.parametrize("name", NAMES)
def test_a_report_holds_what_it_shows_and_not_the_whole_run(
    tmp_path: Path, name: str
) -> None:
    results = [result(f"c{number}", "failed") for number in range(100)]
    run = store_run(tmp_path, [with_long_log(one) for one in results])
    reported(run, name)  # what is imported on first use counts for nothing
    tracemalloc.start()
    try:
        reported(run, name)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = (run.directory / "results.jsonl").stat().st_size
    assert size > 10_000_000
    assert most < size / 4


def with_long_log(one: CaseResult) -> CaseResult:
    assert one.output is not None
    agent = one.output.agent.model_copy(update={"stdout": "x" * 100_000})
    output = one.output.model_copy(update={"agent": agent})
    return one.model_copy(update={"output": output})
