"""The run store: durable, whole lines, whatever happens to its writers."""

from __future__ import annotations

import datetime as dt
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import RUN
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence import create_run
from pytest_codegenie.evidence import load_run
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence import read_results
from pytest_codegenie.evidence import write_record
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import RunRecord


NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
RECORD = RunRecord(run_id="r", started_at=NOW, config={"trials": 1}, versions={})


def result(case_id: str = "first", message: str = "", trial: int = 1) -> CaseResult:
    return CaseResult(
        run_id="r",
        case_id=case_id,
        task_class="demo",
        case_digest="x",
        disposition="positive",
        difficulty="easy",
        curation_class="held-out",
        agent="nop",
        agent_name="nop",
        trial=trial,
        workspace="host",
        outcome="failed",
        score=BenchScore(passed=False, score=0.0),
        message=message,
        started_at=NOW,
        ended_at=NOW,
        harness_version="0",
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    directory = create_run(tmp_path / "out", "r")
    write_record(directory / RUN, RECORD)
    return directory


#: Appends results until it is stopped or fails, and says so.
WRITER = """
import sys
from pathlib import Path
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import append_result
from pytest_codegenie.models import CaseResult

run, name = Path(sys.argv[1]), sys.argv[2]
count, size = int(sys.argv[3]), int(sys.argv[4])
like = CaseResult.from_json(sys.stdin.read())
for trial in range(1, count + 1):
    values = {"case_id": name, "trial": trial, "message": "x" * size}
    try:
        append_result(run, like.model_copy(update=values))
    except RunStoreError as exc:
        print(f"error {exc}", flush=True)
        continue
    print(f"kept {trial}", flush=True)
"""


def start_writer(
    run: Path, name: str, count: int, size: int = 0, **options: Any
) -> subprocess.Popen[str]:
    writer = subprocess.Popen(
        [
            sys.executable,
            "-B",
            "-c",
            WRITER,
            os.fspath(run),
            name,
            str(count),
            str(size),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )
    assert writer.stdin is not None
    writer.stdin.write(result().to_json())
    writer.stdin.close()
    writer.stdin = None
    return writer


def test_results_come_back_in_the_order_of_their_writing(run: Path) -> None:
    written = [result(name, "é\n\u2028") for name in ("b", "a", "c")]
    for each in written:
        append_result(run, each)
    assert list(read_results(run)) == written
    assert [plain["case_id"] for plain in read_plain_results(run)] == ["b", "a", "c"]
    assert load_run(run).results == tuple(written)
    assert load_run(str(run)).record == RECORD
    assert (run / RESULTS).read_bytes().count(b"\n") == 3


def test_a_try_that_was_made_again_is_left_out_but_stays_on_record(run: Path) -> None:
    """What an agent prints, even if it looks like a try, is none."""
    first = result("a", message='{"attempt":7}').model_copy(update={"outcome": "error"})
    other = result("b")
    again = result("a").model_copy(update={"attempt": 2})
    for each in (first, other, again):
        append_result(run, each)
    assert list(read_results(run)) == [other, again]
    told = [(one["case_id"], one["attempt"]) for one in read_plain_results(run)]
    assert told == [("b", 1), ("a", 2)]
    assert [
        (one["case_id"], one["attempt"], one["outcome"])
        for one in read_plain_results(run, all_tries=True)
    ] == [("a", 1, "error"), ("b", 1, "failed"), ("a", 2, "failed")]


def test_workers_that_each_run_a_case_have_a_result_each(run: Path) -> None:
    for _ in range(2):
        append_result(run, result("a"))
    assert len(list(read_results(run))) == 2


def test_a_run_without_results_has_none(run: Path) -> None:
    assert load_run(run).results == ()
    assert list(read_plain_results(run)) == []


def test_a_result_is_synced_before_append_returns(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def note(fd: int) -> None:
        path = Path(f"/proc/self/fd/{fd}").readlink()
        size = path.stat().st_size if path.is_file() else 0
        synced.append(f"{path.name} {size}")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    line = len(result().to_json()) + 1
    append_result(run, result())
    assert synced == ["r 0", f"{RESULTS} {line}"]
    append_result(run, result())
    assert synced[2:] == [f"{RESULTS} {2 * line}"]


@pytest.mark.parametrize("length", [1, 50, 100_000, 300_000])
def test_a_line_that_was_cut_off_is_left_out_and_then_removed(
    run: Path, length: int
) -> None:
    append_result(run, result("a"))
    whole = (run / RESULTS).read_bytes()
    torn = result("torn", "x" * 400_000).to_json().encode()[:length]
    (run / RESULTS).write_bytes(whole + torn)
    assert [each.case_id for each in read_results(run)] == ["a"]
    append_result(run, result("b"))
    assert [each.case_id for each in read_results(run)] == ["a", "b"]
    assert (run / RESULTS).read_bytes().startswith(whole + b'{"run_id"')


def test_a_first_line_that_was_cut_off_leaves_an_empty_run(run: Path) -> None:
    (run / RESULTS).write_bytes(b'{"run_id": "r", "case' + b"\0" * 200_000)
    assert list(read_results(run)) == []
    append_result(run, result("a"))
    assert [each.case_id for each in read_results(run)] == ["a"]


def test_writers_in_several_processes_lose_and_mix_nothing(run: Path) -> None:
    writers = [start_writer(run, name, 40, 9000) for name in ("a", "b", "c", "d")]
    outputs = [writer.communicate()[0] for writer in writers]
    expected = list(range(1, 41))
    assert outputs == ["".join(f"kept {trial}\n" for trial in expected)] * 4
    results = list(read_results(run))
    assert len(results) == 160
    for name in ("a", "b", "c", "d"):
        assert [each.trial for each in results if each.case_id == name] == expected


def test_what_a_killed_writer_said_it_kept_is_there(run: Path) -> None:
    writer = start_writer(run, "a", 100_000, 50_000)
    assert writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(20)]
    writer.send_signal(signal.SIGKILL)
    lines += writer.communicate()[0].splitlines(keepends=True)
    # The last line of the output may be cut off too.
    kept = [int(line.split()[1]) for line in lines if line.endswith("\n")]
    trials = [each.trial for each in read_results(run)]
    assert trials[: len(kept)] == kept == list(range(1, len(kept) + 1))
    assert len(trials) <= len(kept) + 2
    append_result(run, result("after"))
    assert [each.case_id for each in read_results(run)][-1] == "after"


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))


def test_on_a_full_disk_whole_results_stay_and_the_rest_is_an_error(run: Path) -> None:
    writer = start_writer(run, "a", 4, 4000, preexec_fn=limit_file_size)
    output = writer.communicate()[0].splitlines()
    error = (
        "error out/runs/r/results.jsonl: a result cannot be recorded: File too large; "
        "what was recorded before is whole: make room, or choose another place with "
        "--codegenie-out"
    )
    assert output == ["kept 1", "kept 2", error, error]
    assert (run / RESULTS).read_bytes().endswith(b"}\n")
    assert [each.trial for each in read_results(run)] == [1, 2]
    # There is room again: nothing of what failed stands in the way.
    append_result(run, result("a", trial=3))
    assert [each.trial for each in read_results(run)] == [1, 2, 3]


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no device that is always full"
)
def test_a_full_device_is_an_error_too(run: Path) -> None:
    (run / RESULTS).symlink_to("/dev/full")
    with pytest.raises(RunStoreError, match="a result cannot be recorded: "):
        append_result(run, result())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{}\n", "line 2 is no result: Field required"),
        (b"no json\n", "line 2 is no result: Invalid JSON: "),
        (b"\n", "line 2 is no result: Invalid JSON: "),
        (b"\xff\n", "line 2 is no result: "),
    ],
)
def test_a_whole_line_that_is_no_result_is_named(
    run: Path, line: bytes, message: str
) -> None:
    append_result(run, result())
    with (run / RESULTS).open("ab") as file:
        file.write(line)
    with pytest.raises(RunStoreError) as caught:
        load_run(run)
    assert str(caught.value).startswith(f"out/runs/r/results.jsonl: {message}")
    assert "make room" not in str(caught.value)
    if line != b"{}\n":
        with pytest.raises(RunStoreError, match="line 2 is no JSON: "):
            list(read_plain_results(run))


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"{}")


def make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove, "cannot be read: No such file or directory; is this a run?"),
        (make_directory, "cannot be read: Is a directory; is this a run?"),
        (empty, "is no run record: Field required (run_id)"),
    ],
)
def test_what_is_no_run_is_named(
    run: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(run / RUN)
    with pytest.raises(RunStoreError) as caught:
        load_run(run)
    assert str(caught.value) == f"out/runs/r/run.json: {message}"


def test_results_that_are_no_file_are_named(run: Path) -> None:
    (run / RESULTS).mkdir()
    with pytest.raises(RunStoreError, match=r"jsonl: cannot be read: Is a directory"):
        load_run(run)
    with pytest.raises(RunStoreError, match="cannot be recorded: Is a directory"):
        append_result(run, result())


def test_a_record_is_readable_json_that_comes_back(run: Path) -> None:
    text = (run / RUN).read_text(encoding="utf-8")
    assert RunRecord.from_json(text) == RECORD
    assert text.startswith('{\n  "run_id": "r",\n')
    assert json.loads(text)["config"] == {"trials": 1}
    with pytest.raises(RunStoreError) as caught:
        write_record(run / "gone/run.json", RECORD)
    assert str(caught.value) == (
        "out/runs/r/gone/run.json: cannot be written: No such file or directory; what "
        "was recorded before is whole: make room, or choose another place with "
        "--codegenie-out"
    )


def test_a_run_has_a_directory_of_its_own_that_git_leaves_alone(
    run: Path, tmp_path: Path
) -> None:
    assert run == tmp_path / "out/runs/r"
    ignore = tmp_path / "out/.gitignore"
    assert ignore.read_text(encoding="utf-8") == "*\n"
    ignore.write_text("mine\n", encoding="utf-8")
    assert create_run(tmp_path / "out", "s") == tmp_path / "out/runs/s"
    assert ignore.read_text(encoding="utf-8") == "mine\n"


def test_two_runs_cannot_have_one_id(run: Path, tmp_path: Path) -> None:
    append_result(run, result())
    with pytest.raises(ConfigError) as caught:
        create_run(tmp_path / "out", "r")
    assert caught.value.args == (
        "--codegenie-run-id",
        "r",
        "the run exists, in out/runs/r; choose another id",
    )
    assert len(load_run(run).results) == 1


def test_a_place_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").touch()
    with pytest.raises(RunStoreError) as caught:
        create_run(tmp_path / "out", "r")
    assert str(caught.value).startswith(
        "out/runs/r: cannot be made: Not a directory; what was recorded"
    )
