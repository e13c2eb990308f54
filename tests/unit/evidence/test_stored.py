"""A run in its store, gone over to be reported."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from support_runs import NOW
from support_runs import result
from support_runs import store_run

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import latest_run
from pytest_codegenie.evidence import open_run


def test_an_overview_counts_what_there_is_and_names_what_there_is_not(
    tmp_path: Path,
) -> None:
    late = NOW + dt.timedelta(minutes=5)
    run = store_run(
        tmp_path,
        [result("a"), result("b", "failed", ended_at=late), result("a", agent="x")],
        selected=["a[nop]", "b[nop]", "c[nop]", "a[x]", "b[x]"],
    )
    overview = run.overview()
    assert [(g.task_class, g.agent, g.results) for g in overview.groups] == [
        ("demo", "nop", 2),
        ("demo", "x", 1),
    ]
    assert (overview.results, overview.selected) == (3, 5)
    assert overview.missing == ("c[nop]", "b[x]")
    assert overview.ended_at == late
    assert overview.shortfall == (
        "not finished: 3 of 5 items have a result; without one: c[nop], b[x]; resume "
        "it: pytest --codegenie-resume example"
    )


def test_a_whole_run_falls_short_of_nothing_and_trials_are_items(
    tmp_path: Path,
) -> None:
    results = [result("a", trial=1), result("a", trial=2)]
    assert not store_run(tmp_path, results, trials=2).overview().shortfall
    run = store_run(tmp_path / "2", results[:1], trials=2, selected=["a[nop-t2]"])
    assert run.overview().missing == ("a[nop-t2]",)
    unknown = store_run(tmp_path / "3", results, trials=2, selected=[]).overview()
    assert unknown.selected is None
    assert unknown.shortfall == "not finished: what was to run was never recorded"


def test_only_the_first_missing_items_are_named(tmp_path: Path) -> None:
    names = [f"{letter}[nop]" for letter in "abcdefgh"]
    overview = store_run(tmp_path, [result("a")], selected=names).overview()
    named = "without one: b[nop], c[nop], d[nop], e[nop], f[nop], ...; resume it: "
    assert named in overview.shortfall


def test_artifacts_are_where_the_result_says_or_where_they_usually_are(
    tmp_path: Path,
) -> None:
    said = result("a", artifacts={"log": "cases/a/nop-t1-gw0/records/x/y.log"})
    broke = result("b", "error", output=None, trial=3)
    lost = result("c", "error", output=None)
    run = store_run(tmp_path, [said, broke, lost])
    (run.directory / "cases/b/nop-t3").mkdir(parents=True)
    assert [run.artifacts(one) for one in run.results()] == [
        "cases/a/nop-t1-gw0",
        "cases/b/nop-t3",
        None,
    ]


def test_a_line_that_was_cut_off_is_left_out_and_known(tmp_path: Path) -> None:
    run = store_run(tmp_path, [result("a"), result("b")])
    assert not run.is_torn()
    results = run.directory / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-7])
    assert run.is_torn()
    assert [one.case_id for one in run.results()] == ["a"]
    assert run.overview().missing == ("b[nop]",)
    results.write_bytes(b"")
    assert not run.is_torn()
    results.unlink()
    assert not run.is_torn()
    assert run.overview().results == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "line 2 is no result: TypeError: "),
        ("{}", "line 2 is no result: KeyError: 'case_id'"),
        ('{"case_id": "a", "agent": "b"}', "line 2 is no result: KeyError: "),
        ("nonsense", "line 2 is no JSON: "),
    ],
)
def test_a_whole_line_that_is_no_result_is_a_clear_error(
    tmp_path: Path, line: str, message: str
) -> None:
    run = store_run(tmp_path, [result("a")])
    with (run.directory / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(RunStoreError) as caught:
        run.overview()
    assert caught.value.path == run.directory / "results.jsonl"
    assert caught.value.reason.startswith(message)
    with pytest.raises(RunStoreError, match="line 2 is no result: "):
        list(run.results())


def test_the_latest_run_is_the_one_that_began_last_whatever_its_name(
    tmp_path: Path,
) -> None:
    assert latest_run(tmp_path) is None
    early, late = NOW, NOW + dt.timedelta(seconds=1)
    store_run(tmp_path, [result()], run_id="a", started_at=late)
    store_run(tmp_path, [result()], run_id="z", started_at=early)
    (tmp_path / "runs" / "zz").mkdir()
    assert latest_run(tmp_path) == tmp_path / "runs" / "a"
    (tmp_path / "runs" / "z" / "run.json").write_text("{}")
    with pytest.raises(RunStoreError) as caught:
        latest_run(tmp_path)
    assert caught.value.reason == "is no run record: Field required (run_id)"


def test_what_is_no_run_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(RunStoreError, match=r"run\.json: cannot be read: .*is this"):
        open_run(tmp_path)
