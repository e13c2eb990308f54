"""Runs of a store: from their reports where those say all, else from the results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support_runs import NOW
from support_runs import result
from support_runs import store_run

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import RUN
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import make_report
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence import summarise
from pytest_codegenie.evidence import write_record
from pytest_codegenie.evidence.pairing import GroupKey
from pytest_codegenie.evidence.past_runs import MADE_OF
from pytest_codegenie.evidence.past_runs import PastRun
from pytest_codegenie.evidence.past_runs import read_past_run
from pytest_codegenie.evidence.past_runs import read_records
from pytest_codegenie.evidence.past_runs import selected_groups
from pytest_codegenie.models import CaseResult


def stored(out: Path, results: Sequence[CaseResult], **options: Any) -> StoredRun:
    """Write a run with digests in its record."""
    run = store_run(out, results, **options)
    digests = {f"{one.task_class}/{one.case_id}": one.case_digest for one in results}
    record = run.record.model_copy(update={"case_digests": digests})
    write_record(run.directory / RUN, record)
    return open_run(run.directory)


def report(run: StoredRun, *, complete: bool = True) -> None:
    """Write the reports of a run, as its end does."""
    plain = [one.model_dump(mode="json") for one in run.results()]
    for group in summarise(plain):
        made = make_report(
            group,
            run_id=run.record.run_id,
            harness_version="0",
            agent_settings={"label": group.agent},
            complete=complete,
        )
        write_record(run.directory / f"report-demo-{group.agent}.json", made)


def past(run: StoredRun) -> PastRun:
    return read_past_run(run.directory, run.record)


RESULTS_OF_THREE = [
    result("a", cost=0.5),
    result("b", "failed", score=0.25),
    result("c", disposition="ambiguous"),
    result("d"),
]


def test_complete_reports_say_all_and_no_result_is_read(tmp_path: Path) -> None:
    run = stored(tmp_path, RESULTS_OF_THREE)
    report(run)
    by_results = past(stored(tmp_path, RESULTS_OF_THREE, run_id="without"))
    (run.directory / RESULTS).write_text("this is not looked at\n", encoding="utf-8")
    (group,) = past(run).groups
    figures = (group.selected, group.results, group.cases, group.passed, group.failed)
    assert figures == (4, 4, 3, 2, 1)
    assert (group.errors, group.ambiguous, group.complete) == (0, 1, True)
    assert group.mean_score == pytest.approx(0.75)
    assert group.cost_usd == 0.5
    # The results say the same, but of the agent's settings: they are in no record here.
    (other,) = by_results.groups
    for name in (*("cases", "passed", "failed", "ambiguous", "mean_score"),):
        assert getattr(group, name) == getattr(other, name), name
    assert group.lower_bound_95 is not None


def test_trials_of_a_case_are_one_case(tmp_path: Path) -> None:
    results = [
        result(case, "passed" if trial == 1 else "failed", trial=trial)
        for case in ("a", "b-t2")
        for trial in (1, 2, 3)
    ]
    run = stored(tmp_path, results, trials=3)
    assert selected_groups(run.record) == {GroupKey("demo", "nop"): 6}
    report(run)
    (group,) = past(run).groups
    assert (group.cases, group.passed, group.failed, group.selected) == (2, 2, 4, 6)


@pytest.mark.parametrize("with_report", [True, False])
def test_an_incomplete_run_is_made_of_its_results(
    tmp_path: Path, with_report: bool
) -> None:
    results = [result("a"), result("b", "error"), result("c", "failed")]
    names = [*(f"{case}[nop]" for case in "abcd"), "a[other]"]
    run = stored(tmp_path, results, selected=names)
    if with_report:
        report(run, complete=False)
    found = past(run)
    first, second = found.groups
    assert (first.agent, first.selected, first.results) == ("nop", 4, 3)
    assert (first.passed, first.failed, first.errors) == (1, 1, 1)
    assert (second.agent, second.selected, second.results) == ("other", 1, 0)
    assert (second.mean_score, second.made_of) == (None, {})
    assert (found.complete, first.complete, found.cost_usd) == (False, False, None)


def test_a_run_that_was_killed_after_its_last_result_is_complete(
    tmp_path: Path,
) -> None:
    assert past(stored(tmp_path, RESULTS_OF_THREE)).complete
    assert not past(stored(tmp_path, [result("a", "error")], run_id="err")).complete
    assert not past(stored(tmp_path, [], run_id="empty")).complete


def test_what_changed_is_named(tmp_path: Path) -> None:
    def group(run_id: str, *results: CaseResult, **record: Any) -> Any:
        run = stored(tmp_path, results, run_id=run_id)
        changed = run.record.model_copy(update=record)
        (one,) = read_past_run(run.directory, changed).groups
        return one

    first = group("1", result("a"))
    assert tuple(first.made_of) == MADE_OF
    assert group("2", result("a")).changed_since(first) == ()
    changed = group("3", result("a", case_digest="x")).changed_since(first)
    assert changed == ("corpus",)
    changed = group("4", result("a"), result("b")).changed_since(first)
    assert changed == ("corpus",)
    changed = group("5", result("a", rubric_digest="x", workspace="docker"))
    assert changed.changed_since(first) == ("rubric", "isolation")
    config = {"agents": [{"name": "nop", "label": "nop", "options": {"model": "x"}}]}
    changed = group("6", result("a"), config=config, host={"system": "Plan 9"})
    assert changed.changed_since(first) == ("agent", "host")
    versions = {"pytest-codegenie": "1"}
    changed = group("7", result("a"), versions=versions).changed_since(first)
    assert changed == ("harness",)


def test_a_run_that_was_cut_off_is_made_of_what_was_selected(tmp_path: Path) -> None:
    whole = stored(tmp_path, [result("a"), result("b")], run_id="whole")
    cut = stored(tmp_path, [result("a"), result("b")], run_id="cut")
    lines = (cut.directory / RESULTS).read_text("utf-8").splitlines(keepends=True)
    (cut.directory / RESULTS).write_text(lines[0], encoding="utf-8")
    (before,), (after,) = past(whole).groups, past(cut).groups
    assert (after.results, after.selected) == (1, 2)
    assert after.changed_since(before) == ()


def test_records_come_newest_first_and_unreadable_ones_are_named(
    tmp_path: Path,
) -> None:
    for days, name in ((1, "b"), (3, "a"), (2, "c")):
        started_at = NOW + dt.timedelta(days=days)
        store_run(tmp_path, [], run_id=name, started_at=started_at)
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "c" / RUN).write_text("{}", encoding="utf-8")
    (tmp_path / "runs" / "file").write_text("", encoding="utf-8")
    found = read_records(tmp_path)
    assert [record.run_id for _, record in found.records] == ["a", "b"]
    assert [fault.path.parent.name for fault in found.faults] == ["broken", "c"]
    assert read_records(tmp_path / "nowhere").records == ()


def test_a_report_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    run = stored(tmp_path, [result("a")])
    path = run.directory / "report-demo-nop.json"
    path.write_text('{"run_id": 1}', encoding="utf-8")
    with pytest.raises(RunStoreError, match=r"report-demo-nop.json: is no report: "):
        past(run)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("bench/demo/cases/a/case.toml::a[x]", {("demo", "x"): 1}),
        ("case.toml::a[x]", {("known", "x"): 1}),
        ("case.toml::b[x]", {}),
        ("bench/demo/cases/a/case.toml::a[x]@group", {("demo", "x"): 1}),
        ("bench/demo[validate]", {}),
        ("nothing of ours", {}),
    ],
)
def test_groups_are_told_from_node_ids(
    tmp_path: Path, item: str, expected: dict[tuple[str, str], int]
) -> None:
    digests = {"known/a": "digest"} if item == "case.toml::a[x]" else {}
    record = store_run(tmp_path, []).record.model_copy(
        update={"items": (item,), "case_digests": digests}
    )
    assert dict(selected_groups(record)) == expected
