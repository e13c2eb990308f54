"""Which runs are evidence for a promotion, and what is found out about each."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support_runs import NOW
from support_runs import recorded_run
from support_runs import result
from support_runs import store_run

from pytest_codegenie.errors import IncompleteReportForPromotion
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence.promotion.gate import PromotionEvidence
from pytest_codegenie.evidence.promotion.window import known_agents
from pytest_codegenie.evidence.promotion.window import promotion_window
from pytest_codegenie.models import CaseResult


CASES = [
    result("a"),
    result("b", curation_class="rag-corpus-derived"),
    result("c", "failed"),
    result("d", disposition="ambiguous"),
]


def later(results: list[CaseResult], hours: int) -> list[CaseResult]:
    moved = NOW + dt.timedelta(hours=hours)
    return [
        one.model_copy(update={"started_at": moved, "ended_at": moved})
        for one in results
    ]


def record(out: Path, number: int, cases: Any = None, **options: Any) -> StoredRun:
    """Record the run of an hour."""
    began = NOW + dt.timedelta(hours=number)
    options = {"run_id": f"r{number}", "started_at": began, **options}
    return recorded_run(out, later(cases or CASES, number), **options)


def window(out: Path, size: int = 2, agent: str = "nop") -> list[PromotionEvidence]:
    return list(promotion_window(out, "demo", agent, size, {"silver": 3}))


def test_the_latest_runs_are_taken_oldest_first(tmp_path: Path) -> None:
    for number in (2, 3, 1):
        record(tmp_path, number)
    found = window(tmp_path)
    assert [one.report.run_id for one in found] == ["r2", "r3"]
    assert [one.chain_fault for one in found] == ["", ""]
    assert all(one.chain_verified for one in found)
    assert [one.min_cases_for_promotion for one in found] == [{"silver": 3}] * 2
    assert [one.report.run_id for one in window(tmp_path, 9)] == ["r1", "r2", "r3"]
    assert window(tmp_path, agent="other") == []
    assert window(tmp_path / "nowhere") == []


def test_cases_that_passed_are_counted_once_and_held_out_ones_apart(
    tmp_path: Path,
) -> None:
    """Ambiguous ones never are; of trials every one has to pass."""
    trials = [
        *CASES,
        result("a", trial=2),
        result("b", "failed", trial=2),
        result("e", "error", trial=2),
        result("e"),
        result("f", agent="other"),
    ]
    record(tmp_path, 1, trials, trials=2)
    (one,) = window(tmp_path)
    assert (one.passed, one.held_out_passed) == (1, 1)
    record(tmp_path, 2)
    (_, two) = window(tmp_path)
    assert (two.passed, two.held_out_passed) == (2, 1)


def test_the_latest_try_of_a_case_counts(tmp_path: Path) -> None:
    tries = [result("a", "error"), result("a").model_copy(update={"attempt": 2})]
    record(tmp_path, 1, tries)
    (one,) = window(tmp_path)
    assert (one.passed, one.chain_fault) == (1, "")


def test_agents_with_a_report_are_known(tmp_path: Path) -> None:
    record(tmp_path, 1, [result("a", agent="x"), result("a", agent="w")])
    record(tmp_path, 2, [result("a", agent="y", task_class="other")])
    assert known_agents(tmp_path, "demo") == ("w", "x")
    assert known_agents(tmp_path, "none") == ()
    shutil.rmtree(tmp_path / "runs")
    assert known_agents(tmp_path, "demo") == ("w", "x")


def test_names_that_a_dash_may_cut_in_two_ways_are_not_mixed_up(tmp_path: Path) -> None:
    record(tmp_path, 1, [result("a", task_class="demo-x", agent="y")])
    assert window(tmp_path, agent="x-y") == []


def test_a_run_that_was_removed_is_on_record_without_its_results(
    tmp_path: Path,
) -> None:
    """So that nobody takes the run before it instead."""
    record(tmp_path, 1)
    shutil.rmtree(record(tmp_path, 2).directory)
    (one,) = window(tmp_path, 1)
    assert one.report.run_id == "r2"
    assert (one.passed, one.held_out_passed, one.chain_fault) == (None, None, "")


def test_a_report_that_is_in_no_record_is_not_verified(tmp_path: Path) -> None:
    record(tmp_path, 1)
    shutil.rmtree(tmp_path / "audit")
    (one,) = window(tmp_path, 1)
    assert one.report.run_id == "r1"
    # It names a head of a chain that is gone.
    assert "no such head" in one.chain_fault


def test_a_report_without_a_link_is_not_verified(tmp_path: Path) -> None:
    run = record(tmp_path, 1)
    shutil.rmtree(tmp_path / "audit")
    path = run.directory / "report-demo-nop.json"
    unlinked = json.loads(path.read_text()) | {"chain_head": "", "prev_hash": ""}
    path.write_text(json.dumps(unlinked))
    (one,) = window(tmp_path, 1)
    assert one.chain_fault == "the audit chain has no record of this report"


def test_a_record_that_was_changed_breaks_all_of_them(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)
    chain = tmp_path / "audit" / "chain.jsonl"
    text = chain.read_text()
    chain.write_text(text.replace('"passed_count":2', '"passed_count":3', 1))
    found = window(tmp_path)
    assert [one.report.run_id for one in found] == ["r1", "r2"]
    for one in found:
        assert "audit chain: record 1 (r1, demo, nop)" in one.chain_fault
        assert "\n" not in one.chain_fault


def test_a_result_that_was_changed_breaks_the_chain(tmp_path: Path) -> None:
    run = record(tmp_path, 1)
    results = run.directory / "results.jsonl"
    results.write_text(results.read_text().replace('"failed"', '"passed"'))
    (one,) = window(tmp_path, 1)
    assert "results.c-t1" in one.chain_fault


def test_a_result_that_was_added_is_in_no_record(tmp_path: Path) -> None:
    run = record(tmp_path, 1)
    with (run.directory / "results.jsonl").open("a") as file:
        file.write(result("z", run_id="r1").to_json() + "\n")
    (one,) = window(tmp_path, 1)
    assert one.chain_fault == (
        "the run has results that are in no record of the audit chain"
    )


def test_a_run_that_was_cut_off_has_to_be_finished_first(tmp_path: Path) -> None:
    record(tmp_path, 1)
    began = NOW + dt.timedelta(hours=2)
    store_run(
        tmp_path,
        later(CASES[:1], 2),
        run_id="r2",
        selected=["a[nop]", "b[nop]"],
        started_at=began,
    )
    with pytest.raises(IncompleteReportForPromotion) as excinfo:
        window(tmp_path, 1)
    assert excinfo.value.args == ("r2", "demo", "nop")
    assert "(1 of 2 items have a result)" in str(excinfo.value)
    # With enough later runs it is out of the window.
    record(tmp_path, 3)
    assert [one.report.run_id for one in window(tmp_path, 1)] == ["r3"]
    with pytest.raises(IncompleteReportForPromotion):
        window(tmp_path, 2)
    # It is no run of that agent.
    assert window(tmp_path, 2, agent="other") == []


def test_an_incomplete_report_is_evidence_and_no_error(tmp_path: Path) -> None:
    record(tmp_path, 1, complete=False)
    (one,) = window(tmp_path, 1)
    assert (one.report.complete, one.chain_fault) == (False, "")


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"run_id": 3}'])
def test_a_report_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    run = record(tmp_path, 1)
    (run.directory / "report-demo-nop.json").write_text(text)
    with pytest.raises(RunStoreError, match=r"report-demo-nop\.json: is no report: "):
        window(tmp_path, 1)
