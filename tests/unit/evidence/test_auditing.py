"""What ``audit`` derives again, and what it makes of what was changed."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support_audit import CASE_DIGEST
from support_audit import NOW
from support_audit import Store
from support_audit import make_result

from pytest_codegenie.errors import ChainTamperDetected
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import append_records
from pytest_codegenie.evidence.audit.content import make_content
from pytest_codegenie.evidence.audit.content import result_digests
from pytest_codegenie.evidence.audit.content import result_name
from pytest_codegenie.evidence.audit.findings import Audit
from pytest_codegenie.evidence.audit.verifying import audit
from pytest_codegenie.hashing import hash_bytes
from pytest_codegenie.models import BenchScore


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def unchanged(task_class: str, case_id: str) -> str | None:
    return CASE_DIGEST


def sound(store: Store) -> Audit:
    return audit(store.out, case_digest=unchanged)


def kinds(found: Audit) -> list[str]:
    return [gap.kind for gap in found.gaps]


def broken(store: Store) -> ChainTamperDetected:
    with pytest.raises(ChainTamperDetected) as caught:
        sound(store)
    return caught.value


def results_path(store: Store, run_id: str = "run-1") -> Path:
    return store.out / "runs" / run_id / "results.jsonl"


def report_path(store: Store, agent: str = "oracle", run_id: str = "run-1") -> Path:
    return store.out / "runs" / run_id / f"report-demo-task-{agent}.json"


# -- what holds


def test_everything_is_derived_where_everything_is_at_hand(store: Store) -> None:
    store.recorded_run("run-1")
    several = [
        make_result("a"),
        make_result("a", trial=2, score=BenchScore(passed=True, score=0.5)),
        make_result("b", agent="nop", outcome="failed"),
        make_result("c", agent="nop", outcome="error"),
    ]
    last = store.recorded_run("run-2", several)
    found = sound(store)
    assert (found.records, found.runs, found.head) == (3, 2, last[-1].chain_head)
    assert (found.derived, found.results) == (3, 7)
    assert (found.complete, found.incomplete) == (2, 1)
    assert found.gaps == []
    assert [recorded.number for recorded in found.heads.values()] == [1, 2, 3]


def test_no_store_has_nothing_wrong(store: Store) -> None:
    found = sound(store)
    assert (found.records, found.gaps) == (0, [])


def test_a_record_names_each_result_by_the_digest_of_its_exact_line(
    store: Store,
) -> None:
    tries = [make_result("a-t2", outcome="error"), make_result("a-t2", attempt=2)]
    others = [make_result("a", trial=2), make_result("b"), make_result("b")]
    directory = store.run("run-1", [*tries, *others])
    lines = results_path(store).read_bytes().splitlines(keepends=True)
    assert result_digests(directory) == {
        ("demo-task", "oracle"): {
            "a-t2-t1": hash_bytes(lines[0]),
            "a-t2-t1#2": hash_bytes(lines[1]),
            "a-t2": hash_bytes(lines[2]),
            "b-t1": hash_bytes(lines[3]),
            "b-t1~2": hash_bytes(lines[4]),
        }
    }
    store.record("run-1")
    record = json.loads(store.lines[0])["content"]
    assert record["results"] == result_digests(directory)["demo-task", "oracle"]
    assert sound(store).results == 5


def test_names_of_results_are_never_the_same() -> None:
    taken: dict[str, str] = {}
    for case_id in ("a", "a-t1", "a-t1-t1"):
        for trial in (1, 2):
            for attempt in (1, 1, 2, 2):
                one = {"case_id": case_id, "trial": trial, "attempt": attempt}
                taken[result_name(one, taken)] = ""
    assert len(taken) == 24


def test_what_is_no_result_is_named_by_its_line(store: Store) -> None:
    directory = store.run("run-1", [make_result()])
    with results_path(store).open("a") as file:
        file.write('{"task_class": "demo-task"}\n')
    with pytest.raises(RunStoreError, match=r"results.jsonl: line 2 is no result"):
        result_digests(directory)


def test_a_run_that_was_resumed_has_a_later_record_and_both_hold(store: Store) -> None:
    directory = store.run(
        "run-1", [make_result("a"), make_result("b", outcome="error")]
    )
    (first,) = store.record("run-1")
    again = make_result("b", attempt=2)
    append_result(directory, again)
    (second,) = store.record("run-1")
    assert (first.passed_count, second.passed_count) == (1, 2)
    assert second.prev_hash == first.chain_head
    found = sound(store)
    assert (found.records, found.derived, found.runs) == (2, 2, 1)
    assert (found.complete, found.incomplete) == (1, 1)
    assert found.gaps == []


def test_only_selected_records_are_derived_and_all_links_are_verified(
    store: Store,
) -> None:
    for number in (1, 2, 3):
        store.recorded_run(f"run-{number}")
    results_path(store, "run-1").write_text("")
    found = audit(
        store.out,
        case_digest=unchanged,
        selects=lambda entry, report: report["run_id"] == "run-3",
    )
    assert (found.records, found.derived) == (3, 1)
    store.chain.write_bytes(store.chain.read_bytes().replace(b"0.75", b"0.85", 1))
    with pytest.raises(ChainTamperDetected):
        audit(store.out, selects=lambda entry, report: False)


# -- what is no longer what it was


REPORT_FIELDS = [
    ("passed_count", 9),
    ("mean_score", 0.5),
    ("score_stddev", 0.1),
    ("lower_bound_95", 0.2),
    ("total_cost_usd", 0.0),
    ("per_case", {}),
    ("block_severity_failure_modes", ("rubric.timeout",)),
    ("started_at", NOW - dt.timedelta(days=1)),
    ("ended_at", NOW + dt.timedelta(days=1)),
    ("isolation_class", "docker; rubric offline"),
    ("rubric_digest", "blake3:" + "1" * 64),
    ("cassette_corpus_digest", "blake3:" + "1" * 64),
]


@pytest.mark.parametrize(("field", "value"), REPORT_FIELDS)
def test_a_figure_that_its_results_do_not_give_is_noticed_in_a_chain_made_anew(
    store: Store, field: str, value: object
) -> None:
    """Digests and heads are right: somebody made the whole chain again."""
    store.run("run-1", [make_result(name) for name in ("first", "second", "third")])
    store.record("run-1", {field: value})
    error = broken(store)
    assert error.record == "1 (run-1, demo-task, oracle)"
    assert error.what.startswith(f"report.{field}")


def test_every_figure_of_a_report_is_derived_or_known_not_to_be() -> None:
    """A new one has to be thought of: see ``_NOT_DERIVED``."""
    from pytest_codegenie.models import BenchRunReport

    not_derived = {"sut_digest", "host_fingerprint", "harness_version"}
    links = {"prev_hash", "chain_head"}
    names = {"run_id", "task_class", "agent", "complete"}
    derived = {field for field, _ in REPORT_FIELDS}
    assert derived | not_derived | links | names == set(BenchRunReport.model_fields)


def test_a_figure_of_one_case_is_named(store: Store) -> None:
    store.run("run-1", [make_result(name) for name in ("first", "second", "third")])
    (report,) = store.reports("run-1")
    better = BenchScore(passed=True, score=1.0)
    store.record("run-1", {"per_case": {**report.per_case, "second": better}})
    error = broken(store)
    assert error.what == "report.per_case.second"
    assert '"score":1.0' in error.expected
    assert '"score":0.75' in error.computed


def test_a_report_that_is_complete_with_an_error_is_noticed(store: Store) -> None:
    store.run("run-1", [make_result("a"), make_result("b", outcome="error")])
    store.record("run-1", {"complete": True})
    error = broken(store)
    assert (error.what, error.expected, error.computed) == (
        *("report.complete", "true", "false"),
    )


def edit_line(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b"0.75", b"0.95"), lines[2]]


@pytest.mark.parametrize(
    ("edit", "name"),
    [
        (edit_line, "second-t1"),
        (lambda lines: lines[1:], "first-t1"),
        (lambda lines: [], "first-t1"),
        (lambda lines: [b"{}\n", *lines[1:]], "first-t1"),
        (lambda lines: [lines[0], lines[1], lines[2][:-1]], "third-t1"),
    ],
    ids=["changed", "one is gone", "all are gone", "another", "the last is torn"],
)
def test_a_result_that_is_not_the_one_on_record_is_named(
    store: Store, edit: Callable[[list[bytes]], list[bytes]], name: str
) -> None:
    store.recorded_run("run-0")
    store.recorded_run("run-1")
    path = results_path(store)
    lines = path.read_bytes().splitlines(keepends=True)
    changed = edit(lines)
    path.write_bytes(b"".join(changed))
    error = broken(store)
    assert error.record == "2 (run-1, demo-task, oracle)"
    assert error.what == f"results.{name} (runs/run-1/results.jsonl)"
    recorded = {
        f"{case}-t1": hash_bytes(line)
        for case, line in zip(("first", "second", "third"), lines, strict=True)
    }
    assert error.expected == recorded[name]
    is_there = edit is edit_line
    assert error.computed == (hash_bytes(changed[1]) if is_there else "nothing")


def test_results_that_nobody_recorded_are_told(store: Store) -> None:
    directory = store.run("run-1", [make_result("a")])
    store.record("run-1")
    append_result(directory, make_result("b"))
    found = sound(store)
    assert kinds(found) == ["results-unrecorded"]
    assert "run run-1 has 1 results that are in no record" in found.gaps[0].what


def test_the_first_broken_record_is_the_one_that_is_named(store: Store) -> None:
    for number in (1, 2, 3):
        store.recorded_run(f"run-{number}")
    results_path(store, "run-2").write_text("")
    lines = store.lines
    store.chain.write_bytes(b"".join([*lines[:2], lines[2].replace(b"0.75", b"0.85")]))
    assert broken(store).record == "2 (run-2, demo-task, oracle)"


@pytest.mark.parametrize("key", ["report", "results", "both", "space", "date"])
def test_a_content_that_is_none_is_noticed(store: Store, key: str) -> None:
    values: dict[str, Any] = {
        "report": {
            "run_id": "r",
            "task_class": "t",
            "agent": "a",
            "complete": True,
            "ended_at": "2026-11-21T12:00:00Z",
        },
        "results": {},
    }
    if key == "both":
        values = {}
    elif key == "date":
        values["report"]["ended_at"] = "2026-11-21"
    elif key != "space":
        del values[key]
    data = canonical_json(values)
    append_records(store.out, [data.replace(b":", b": ") if key == "space" else data])
    assert broken(store).what == "content"


# -- the reports in the runs


@pytest.mark.parametrize(
    "field", ["passed_count", "prev_hash", "sut_digest", "run_id", "complete"]
)
def test_a_report_in_its_run_that_says_otherwise_is_noticed(
    store: Store, field: str
) -> None:
    store.recorded_run()
    path = report_path(store)
    report = json.loads(path.read_text())
    report[field] = {"complete": False, "passed_count": 2}.get(field, "other")
    path.write_text(json.dumps(report))
    error = broken(store)
    assert error.record == "1 (run-1, demo-task, oracle)"
    assert error.what == f"{field} (runs/run-1/report-demo-task-oracle.json)"


def test_a_key_too_many_or_too_few_in_a_report_is_noticed(store: Store) -> None:
    store.recorded_run()
    path = report_path(store)
    report = json.loads(path.read_text())
    path.write_text(json.dumps({**report, "extra": 1}))
    assert broken(store).what.startswith("extra ")
    del report["agent"]
    path.write_text(json.dumps(report))
    assert (broken(store).what[:6], broken(store).computed) == ("agent ", "nothing")


def test_a_head_in_a_report_that_the_chain_has_not_tells_of_a_cut_off_end(
    store: Store,
) -> None:
    store.recorded_run("run-1")
    (last,) = store.recorded_run("run-2")
    store.chain.write_bytes(store.lines[0])
    error = broken(store)
    assert error.record == "of runs/run-2/report-demo-task-oracle.json"
    assert (error.expected, error.computed) == (last.chain_head, "no such head")
    store.chain.unlink()
    assert broken(store).record == "of runs/run-1/report-demo-task-oracle.json"


def test_the_report_of_another_record_is_noticed(store: Store) -> None:
    store.recorded_run("run-1")
    store.recorded_run("run-2")
    shutil.copyfile(report_path(store), report_path(store, run_id="run-2"))
    error = broken(store)
    assert error.record == "of runs/run-2/report-demo-task-oracle.json"
    assert error.computed == "the head of record 1"


def test_a_report_that_is_no_json_is_noticed(store: Store) -> None:
    store.recorded_run()
    report_path(store).write_text("{")
    assert (broken(store).record, broken(store).computed) == ("1", "no JSON")


def test_a_crash_between_record_and_report_is_told_and_is_no_tampering(
    store: Store,
) -> None:
    store.recorded_run()
    whole = report_path(store).read_bytes()
    report_path(store).unlink()
    found = sound(store)
    assert kinds(found) == ["report-missing"]
    assert found.gaps[0].what == (
        "runs/run-1/report-demo-task-oracle.json of record 1 is gone"
    )
    # Whoever goes on with the run appends nothing, and gets the same report.
    store.record("run-1")
    assert len(store.lines) == 1
    assert report_path(store).read_bytes() == whole
    assert sound(store).gaps == []


def test_a_report_without_a_record_and_one_of_an_earlier_record_are_told(
    store: Store,
) -> None:
    directory = store.run(
        "run-1", [make_result("a"), make_result("b", outcome="error")]
    )
    store.record("run-1")
    earlier = report_path(store).read_bytes()
    append_result(directory, make_result("b", attempt=2))
    store.record("run-1")
    report_path(store).write_bytes(earlier)
    found = sound(store)
    assert [gap.what for gap in found.gaps] == [
        "runs/run-1/report-demo-task-oracle.json is of record 1, and there is a later "
        "one"
    ]
    report = json.loads(earlier)
    report |= {"chain_head": "", "prev_hash": ""}
    report_path(store).write_text(json.dumps(report))
    assert [gap.what for gap in sound(store).gaps] == [
        "runs/run-1/report-demo-task-oracle.json has no record"
    ]


# -- what is not at hand


def test_a_run_that_was_removed_is_told_once(store: Store) -> None:
    results = [make_result("a"), make_result("a", agent="nop")]
    store.recorded_run("run-1", results)
    store.recorded_run("run-2")
    shutil.rmtree(store.out / "runs" / "run-1")
    found = sound(store)
    assert (found.records, found.derived) == (3, 1)
    assert kinds(found) == ["run-gone"]


def test_a_run_without_a_record_is_told(store: Store) -> None:
    store.run("run-1", [make_result("a")])
    store.run("run-2", [])
    found = sound(store)
    assert kinds(found) == ["run-unrecorded"]
    assert "run run-1 has 1 results and no record" in found.gaps[0].what


@pytest.mark.parametrize("run_id", ["", ".", "..", "../x", "/etc"])
def test_a_record_leads_nowhere_out_of_the_store(store: Store, run_id: str) -> None:
    store.recorded_run()
    (report,) = store.reports("run-1")
    stranger = make_content(report.model_copy(update={"run_id": run_id}), {})
    append_records(store.out, [stranger])
    assert kinds(sound(store)) == ["run-gone"]


def test_a_corpus_that_changed_since_is_no_tampering(store: Store) -> None:
    store.recorded_run()
    store.recorded_run("run-2")

    def now(task_class: str, case_id: str) -> str | None:
        assert task_class == "demo-task"
        return {"first": CASE_DIGEST, "second": "blake3:" + "d" * 64}.get(case_id)

    found = audit(store.out, case_digest=now)
    assert sorted(gap.what for gap in found.gaps) == [
        "case demo-task/second is not the one that was run: the corpus has changed "
        "since",
        "case demo-task/third is not at hand",
    ]


def test_what_another_version_made_is_not_called_tampering(store: Store) -> None:
    store.run("run-1", [make_result(name) for name in ("first", "second", "third")])
    store.record("run-1", {"harness_version": "0.0.1", "score_stddev": 0.25})
    found = sound(store)
    assert kinds(found) == ["not-derived"]
    assert found.gaps[0].what.startswith("score_stddev of pytest-codegenie 0.0.1")


def test_a_resampled_bound_may_differ_in_its_last_digits_only(store: Store) -> None:
    pytest.importorskip("scipy")
    scores = [0.1, 0.4, 0.5, 0.9, 1.0]
    store.run(
        "run-1",
        [
            make_result(f"case-{n}", score=BenchScore(passed=True, score=score))
            for n, score in enumerate(scores)
        ],
    )
    (report,) = store.reports("run-1")
    bound = report.lower_bound_95
    assert bound is not None
    store.record("run-1", {"lower_bound_95": bound + 1e-13})
    assert sound(store).gaps == []
    store.chain.unlink()
    store.record("run-1", {"lower_bound_95": bound + 1e-6})
    assert broken(store).what == "report.lower_bound_95"


def test_a_torn_end_is_told(store: Store) -> None:
    store.recorded_run()
    whole = store.chain.read_bytes()
    store.chain.write_bytes(whole + whole[:40])
    found = sound(store)
    assert kinds(found) == ["torn"]
    assert found.gaps[0].what.startswith("40 bytes of a record")
