"""Going on with a run: its name, its results so far, and what it is made of."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support_runs import NOW
from support_runs import result
from support_runs import store_run

from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RecordedResults
from pytest_codegenie.evidence import ResultKey
from pytest_codegenie.evidence import RunLock
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence import artifacts_place
from pytest_codegenie.evidence import begun_record
from pytest_codegenie.evidence import differences
from pytest_codegenie.evidence import join_run
from pytest_codegenie.evidence import read_results
from pytest_codegenie.evidence import result_key
from pytest_codegenie.evidence import resume_command
from pytest_codegenie.evidence import wait_for_orphans
from pytest_codegenie.evidence.resuming import NOT_COMPARED
from pytest_codegenie.models import RunRecord


# -- naming the run ----------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bench, a file, and runs: in a store, and copied out of one."""
    monkeypatch.chdir(tmp_path)
    Path("bench/demo").mkdir(parents=True)
    Path("latest").mkdir()
    Path(".codegenie/runs/first").mkdir(parents=True)
    for name in ("whole", "torn"):
        Path(name).mkdir()
    Path("whole/run.json").touch()
    Path("torn/results.jsonl").touch()
    Path("link").symlink_to("nowhere")


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    ("words", "joined"),
    [
        ([], []),
        (["bench", "-q"], ["bench", "-q"]),
        (["--resume"], ["--resume=latest"]),
        (["--resume", "-q"], ["--resume=latest", "-q"]),
        (["--resume", ""], ["--resume=latest", ""]),
        (["--resume", "bench"], ["--resume=latest", "bench"]),
        (["--resume", "bench/"], ["--resume=latest", "bench/"]),
        (["--resume", "bench/demo::a[b]"], ["--resume=latest", "bench/demo::a[b]"]),
        (["--resume", "link"], ["--resume=latest", "link"]),
        (["--resume", "first", "bench"], ["--resume=first", "bench"]),
        (["bench", "--resume", "nosuch"], ["bench", "--resume=nosuch"]),
        (["--resume", "latest"], ["--resume=latest"]),
        (["--resume", ".codegenie/runs/first"], ["--resume=.codegenie/runs/first"]),
        (["--resume", "whole"], ["--resume=whole"]),
        (["--resume", "torn"], ["--resume=torn"]),
        (["--resume=bench", "bench"], ["--resume=bench", "bench"]),
        (["--resume", "--", "--resume"], ["--resume=latest", "--", "--resume"]),
        (["--", "--resume", "first"], ["--", "--resume", "first"]),
        (["--resume", "--resume", "a"], ["--resume=latest", "--resume=a"]),
    ],
)
def test_a_run_is_told_from_what_is_to_be_collected(
    words: Sequence[str], joined: list[str]
) -> None:
    assert join_run(words, "--resume") == joined


def record(arguments: Sequence[str] = (), **config: Any) -> RunRecord:
    settings = RunConfig.model_validate(config).model_dump(mode="json")
    return RunRecord(
        run_id="first",
        started_at=NOW,
        config=settings,
        versions={"pytest-codegenie": "1", "pytest": "9"},
        arguments=tuple(arguments),
    )


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ((), "pytest --codegenie-resume first"),
        (
            ("--codegenie", "-k", "a or b", "my bench"),
            "pytest --codegenie -k 'a or b' 'my bench' --codegenie-resume first",
        ),
        # It had been resumed before it had begun.
        (
            ("--codegenie", "--codegenie-resume", "other", "-q"),
            "pytest --codegenie -q --codegenie-resume first",
        ),
        (
            ("--codegenie-resume=other", "--codegenie"),
            "pytest --codegenie --codegenie-resume first",
        ),
    ],
)
def test_the_command_that_goes_on_with_a_run(
    arguments: Sequence[str], command: str
) -> None:
    assert resume_command(record(arguments)) == command


# -- what a run is made of ---------------------------------------------------------


def said(then: RunRecord, now: RunRecord) -> list[str]:
    return [str(one) for one in differences(then, now)]


def test_of_every_setting_it_is_decided_whether_it_may_differ() -> None:
    """Who adds a setting decides it; the list below is of those that are compared."""
    compared = set(RunConfig.model_fields) - NOT_COMPARED
    assert compared == {
        *("agents", "workspace", "trials", "evaluator"),
        *("timeout", "setup_timeout", "timeout_margin"),
        *("limits", "sandbox", "docker"),
    }


def test_a_run_is_like_itself_whatever_else_is_set() -> None:
    other = record(
        workers=3,
        reporters=["csv"],
        keep="always",
        log_level="debug",
        secrets=["TOKEN"],
        limit=3,
        cases=["a"],
        docker={"enabled": False, "cleanup": False},
    )
    assert said(record(), other) == said(other, record()) == []


def test_what_is_not_recorded_is_a_default() -> None:
    """As of an earlier version, which did not have the setting."""
    then = record()
    config = {k: v for k, v in then.config.items() if k != "setup_timeout"}
    then = then.model_copy(update={"config": config})
    assert said(then, record()) == []
    assert said(then, record(setup_timeout=5)) == [
        "setup_timeout: recorded 1800.0, now 5.0"
    ]


def agent(label: str, **fields: Any) -> dict[str, Any]:
    return {"name": "command", "label": label} | fields


def test_agents_are_compared_by_their_labels() -> None:
    then = record(agents=[agent("a"), agent("b", options={"model": "x"})])
    same = record(agents=[agent("b", options={"model": "x"}), agent("a")])
    assert said(then, same) == []
    other = record(
        agents=[
            agent("b", options={"model": "y", "turns": 3}, timeout_seconds=4),
            agent("c"),
        ]
    )
    assert said(then, other) == [
        "agents.a: recorded a, now nothing",
        'agents.b.options.model: recorded "x", now "y"',
        "agents.b.options.turns: recorded nothing, now 3",
        "agents.b.timeout_seconds: recorded nothing, now 4.0",
        "agents.c: recorded nothing, now c",
    ]


def test_versions_of_agents_and_of_ours_are_compared_and_grading_too() -> None:
    then, now = record(), record()
    then = then.model_copy(update={"versions": {"pytest": "9", "agent a": "1.2"}})
    now = now.model_copy(update={"graded_from": "other"})
    assert said(then, now) == [
        'graded_from: recorded nothing, now "other"',
        'versions.agent a: recorded "1.2", now nothing',
        'versions.pytest-codegenie: recorded nothing, now "1"',
    ]


def test_a_long_value_is_cut() -> None:
    then = record(agents=[agent("a", options={"prompt": "x" * 500})])
    now = record(agents=[agent("a", options={"prompt": "y"})])
    (line,) = said(then, now)
    assert line == f'agents.a.options.prompt: recorded "{"x" * 99}..., now "y"'


# -- what a run has ----------------------------------------------------------------


def key(case_id: str, trial: int = 1) -> ResultKey:
    return ResultKey("demo", case_id, "nop", trial)


def test_the_last_try_of_each_item_is_found_and_read(tmp_path: Path) -> None:
    written = [
        result("a", "error"),
        result("b", "failed", message="é\n\u2028"),
        result("a", "error", attempt=2),
        result("a", "passed", attempt=4),
        result("c", "error", trial=2),
    ]
    run = store_run(tmp_path, written)
    recorded = RecordedResults(run.directory)
    assert {k: (e.outcome, e.attempt) for k, e in recorded.items()} == {
        key("a"): ("passed", 4),
        key("b"): ("failed", 1),
        key("c", 2): ("error", 1),
    }
    assert [e.is_verdict for e in recorded.values()] == [True, True, False]
    assert recorded[key("b")].case_digest == "digest of b"
    assert recorded.read(key("b")) == written[1]
    assert recorded.read(key("a")) == written[3]
    with pytest.raises(KeyError):
        recorded.read(key("c"))
    recorded.close()
    assert recorded.read(key("c", 2)) == written[4]


def test_no_later_results_are_taken_in_than_were_there_at_first(
    tmp_path: Path,
) -> None:
    """So that all processes of a session come to the same."""
    run = store_run(tmp_path, [result("a"), result("b")])
    first = RecordedResults(run.directory)
    path = run.directory / "results.jsonl"
    assert first.size == path.stat().st_size
    with path.open("a") as file:
        file.write('{"run_id": "torn')
    assert RecordedResults(run.directory).size == first.size
    append_result(run.directory, result("c"))
    later = RecordedResults(run.directory, first.size)
    assert (dict(later), later.size) == (dict(first), first.size)
    assert set(RecordedResults(run.directory)) == {key("a"), key("b"), key("c")}


def test_a_run_without_results_has_none(tmp_path: Path) -> None:
    recorded = RecordedResults(tmp_path)
    assert (len(recorded), recorded.size) == (0, 0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{}", "KeyError: 'task_class'"),
        ("[1]", "TypeError: list indices must be *"),
        ("null", "TypeError: *"),
        ("no", "JSONDecodeError: *"),
    ],
)
def test_a_line_that_is_no_result_is_named(
    tmp_path: Path, line: str, reason: str
) -> None:
    run = store_run(tmp_path, [result("a")])
    with (run.directory / "results.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(RunStoreError) as caught:
        RecordedResults(run.directory)
    expected = f"line 2 is no result: {reason.removesuffix('*')}"
    assert str(caught.value).partition("results.jsonl: ")[2].startswith(expected)


def test_a_result_that_changed_since_is_named(tmp_path: Path) -> None:
    run = store_run(tmp_path, [result("a")])
    recorded = RecordedResults(run.directory)
    path = run.directory / "results.jsonl"
    path.write_text(
        path.read_text().replace('"outcome":"passed"', '"outcome":"pasted"')
    )
    with pytest.raises(RunStoreError, match=r"of 'a' is none: .* \(outcome\)"):
        recorded.read(key("a"))
    other = RecordedResults(run.directory)
    path.unlink()
    with pytest.raises(RunStoreError, match="cannot be read: No such file"):
        other.read(key("a"))


def test_wherever_a_file_of_results_ends_it_can_be_gone_on_with(
    tmp_path: Path,
) -> None:
    """As after a power cut: the rest lost, or there in length alone."""
    seed = int(os.environ.get("CRASH_SEED", random.randrange(1 << 32)))
    print(f"CRASH_SEED={seed}")
    chance = random.Random(seed)
    names = [f"case-{number}" for number in range(8)]
    written = [result(name, message="é" * chance.randrange(300)) for name in names]
    run = store_run(tmp_path, written)
    path = run.directory / "results.jsonl"
    whole = path.read_bytes()
    for _ in range(60):
        keep = chance.randrange(len(whole) + 1)
        lost = bytes(len(whole) - keep) if chance.random() < 0.5 else b""
        path.write_bytes(whole[:keep] + lost)
        recorded = RecordedResults(run.directory)
        count = whole[:keep].count(b"\n")
        assert list(recorded) == [key(name) for name in names[:count]]
        for one in written:
            if result_key(one) not in recorded:
                append_result(run.directory, one)
        assert path.read_bytes() == whole
    assert list(read_results(run.directory)) == written


def test_each_try_has_a_place_of_its_own() -> None:
    assert artifacts_place(key("a")) == "cases/a/nop-t1"
    assert artifacts_place(key("a", 2), 3) == "cases/a/nop-t2-try3"


# -- before it had begun -----------------------------------------------------------


def unbegun(tmp_path: Path, **files: bytes) -> Path:
    directory = tmp_path / "runs/first"
    directory.mkdir(parents=True)
    for name, content in files.items():
        (directory / name.replace("_", ".")).write_bytes(content)
    return directory


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"run_json": b""},
        {"run_json": b'{"run_id": "fir', "session_lock": b"", "workers_lock": b""},
        {"results_jsonl": b'{"torn', "log_jsonl": b"{}\n", "_run_json_x9": b"{"},
    ],
)
def test_a_run_that_came_to_nothing_has_no_record(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    assert begun_record(unbegun(tmp_path, **files)) is None


@pytest.mark.parametrize(
    "files", [{"results_jsonl": b"{}\n"}, {"notes_txt": b""}, {"cases": b""}]
)
def test_what_may_be_somebody_elses_is_not_begun(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    with pytest.raises(RunStoreError, match=r"is this a run\?"):
        begun_record(unbegun(tmp_path, **files))


def test_only_in_a_store_a_run_can_begin(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    for path in (tmp_path / "bench", tmp_path / "runs/nowhere"):
        with pytest.raises(RunStoreError, match=r"is this a run\?"):
            begun_record(path)


def test_a_record_that_is_whole_is_read(tmp_path: Path) -> None:
    run = store_run(tmp_path, [])
    assert begun_record(run.directory) == run.record


# -- one session at a time ---------------------------------------------------------


def test_a_session_has_its_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = RunLock.of_session(tmp_path)
    with pytest.raises(ConfigError, match="another session works on this run, in "):
        RunLock.of_session(tmp_path)
    first.release()
    first.release()
    RunLock.of_session(tmp_path).release()


def test_workers_share_theirs_and_a_new_session_waits_for_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_codegenie.evidence.run_lock.PATIENCE_SECONDS", 0.01)
    lines: list[str] = []
    wait_for_orphans(tmp_path, lines.append)
    assert lines == []
    workers = [RunLock.of_worker(tmp_path) for _ in range(2)]
    workers[0].release()
    with pytest.raises(ConfigError, match="workers of a session that was killed still"):
        wait_for_orphans(tmp_path, lines.append)
    assert lines == ["waits for workers of a session that was killed"]
    wait_for_orphans(tmp_path, lambda _: workers[1].release())


def test_a_place_without_locks_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunStoreError, match=r"session\.lock: cannot be made: No"):
        RunLock.of_session(tmp_path / "nowhere")
