"""What a process of a session knows of a run that goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support_runs import result
from support_runs import store_run

from pytest_codegenie.evidence import ResultKey
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence import artifacts_place
from pytest_codegenie.session.resuming import Resumption
from pytest_codegenie.session.resuming import plain_nodeid
from pytest_codegenie.session.resuming import removed_items
from pytest_codegenie.session.resuming import run_differs


def key(case_id: str) -> ResultKey:
    return ResultKey("demo", case_id, "nop", 1)


@pytest.fixture
def resumption(tmp_path: Path) -> Resumption:
    """Of a run with a verdict, an error, one that was made again, and ``new``."""
    results = [
        result("passed"),
        result("error", "error"),
        result("again", "error"),
        result("again", "failed", attempt=2),
    ]
    run = store_run(tmp_path, results, selected=["new[nop]"])
    return Resumption(run.directory, run.record)


def test_only_what_has_a_verdict_is_not_run(resumption: Resumption) -> None:
    names = ("passed", "error", "again", "new")
    assert [resumption.has_verdict(key(n)) for n in names] == [True, False, True, False]
    read = [resumption.verdict(key(name)) for name in names]
    assert [one and one.outcome for one in read] == ["passed", None, "failed", None]


def test_a_try_has_the_next_number_whose_directory_is_free(
    resumption: Resumption,
) -> None:
    for name, attempt in (("new", 1), ("error", 2)):
        (resumption.directory / artifacts_place(key(name), attempt)).mkdir(parents=True)
    numbers = {name: resumption.attempt(key(name)) for name in ("new", "error")}
    assert numbers == {"new": 2, "error": 3}
    # It makes its directory, and is the same try afterwards.
    (resumption.directory / artifacts_place(key("new"), 2)).mkdir()
    assert resumption.attempt(key("new")) == 2
    # What is reported from the record is the try that gave the verdict.
    assert [resumption.attempt(key(name)) for name in ("passed", "again")] == [1, 2]


@pytest.mark.parametrize(
    ("name", "directories", "attempt"),
    [("new", 0, 1), ("new", 1, 1), ("new", 3, 3), ("error", 1, 2), ("error", 2, 2)],
)
def test_a_try_that_took_its_worker_with_it_is_the_last_that_began(
    resumption: Resumption, name: str, directories: int, attempt: int
) -> None:
    for number in range(directories):
        place = resumption.directory / artifacts_place(key(name), number + 1)
        place.mkdir(parents=True)
    assert resumption.crashed_attempt(key(name)) == attempt


def test_later_results_change_nothing(resumption: Resumption) -> None:
    append_result(resumption.directory, result("new"))
    assert not resumption.has_verdict(key("new"))
    later = Resumption(
        resumption.directory, resumption.record, resumption.recorded.size
    )
    assert dict(later.recorded) == dict(resumption.recorded)


def test_a_long_list_of_differences_is_cut(resumption: Resumption) -> None:
    error = run_differs(resumption.record, [f"line {n}" for n in range(23)])
    assert error.differences[-2:] == ("line 19", "and 3 more")
    assert len(run_differs(resumption.record, range(20)).differences) == 20


def test_cases_that_are_gone_are_named_once(
    resumption: Resumption, tmp_path: Path
) -> None:
    (said,) = removed_items(resumption.record, tmp_path)
    assert said == "bench/demo/cases/x/case.toml: in the run, and gone now"


@pytest.mark.parametrize(
    ("nodeid", "plain"),
    [
        ("bench/a::x[nop]", "bench/a::x[nop]"),
        ("bench/a::x[nop]@group", "bench/a::x[nop]"),
        ("bench/a::test_it", "bench/a::test_it"),
    ],
)
def test_a_group_is_no_part_of_a_node_id(nodeid: str, plain: str) -> None:
    assert plain_nodeid(nodeid) == plain
