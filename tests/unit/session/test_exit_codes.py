"""What a session ends in, where several things have a say."""

from __future__ import annotations

import pytest

from pytest_codegenie.session.exit_codes import EXIT_CODE
from pytest_codegenie.session.exit_codes import Ending


ITEMS = ["c/a/case.toml::a[x]", "c/b/case.toml::b[x]", "c/d/case.toml::d[x]"]


def report(
    item: str, when: str = "call", outcome: str = "passed", **properties: str
) -> pytest.TestReport:
    """Return a report of an item, as pytest makes it."""
    made = pytest.TestReport(item, (item, None, item), {}, outcome, None, when)  # type: ignore[arg-type]
    made.user_properties = list(properties.items())
    return made


def failed(item: str) -> pytest.TestReport:
    """Return the report of a case that the agent did not do."""
    return report(item, outcome="failed", passed="false")


def ends(
    *reports: pytest.TestReport | pytest.CollectReport,
    code: int = 0,
    gates: bool | None = None,
    bounds: bool = False,
    stop: tuple[int, ...] = (),
) -> int:
    """Return what a session ends in; it was to run what the reports are of."""
    ending = Ending()
    items = [one.nodeid for one in reports]
    for one in reports:
        if isinstance(one, pytest.CollectReport):
            ending.pytest_collectreport(one)
        else:
            ending.pytest_runtest_logreport(one)
    for each in stop:
        ending.stop(each)
    whole = not ending.unfinished(items)
    return ending.exit_code(code, whole=whole, gates=gates, bounds=bounds)


@pytest.mark.parametrize(
    ("code", "gates", "bounds", "expected"),
    [
        (0, None, False, 0),
        (1, None, False, 1),
        (0, True, True, 0),
        (1, True, True, 0),  # FAILED cases are in the bound
        (1, False, True, 10),
        (0, False, True, 10),
        (1, True, False, 1),  # no regression, and still a FAILED case
        (1, False, False, 10),
        (0, False, False, 10),
        (2, True, True, 2),
        (2, False, True, 2),
        (3, False, True, 3),
        (4, False, True, 4),
        (5, False, True, 5),
        (7, False, True, 7),  # the budget's, set by its own plugin
    ],
)
def test_a_gate_decides_where_pytest_ended_in_0_or_1(
    code: int, gates: bool | None, bounds: bool, expected: int
) -> None:
    reports = [failed(ITEMS[0]), report(ITEMS[1])]
    assert ends(*reports, code=code, gates=gates, bounds=bounds) == expected


@pytest.mark.parametrize("gates", [True, False])
@pytest.mark.parametrize(
    "error",
    [
        report(ITEMS[2], "setup", "failed"),
        report(ITEMS[2], "teardown", "failed", passed="true"),
        report(ITEMS[2], "teardown", "failed", passed="false"),
        # Something else than the case's result.
        report(ITEMS[2], "call", "failed", passed="true"),
        report(ITEMS[2], "call", "failed"),
        pytest.CollectReport("c/e/case.toml", "failed", "", []),
    ],
    ids=["setup", "teardown", "teardown-failed", "passed", "unknown", "collecting"],
)
def test_an_error_fails_the_session_whatever_the_gates_say(
    error: pytest.TestReport, gates: bool
) -> None:
    assert ends(failed(ITEMS[0]), error, code=1, gates=gates, bounds=True) == 1


def test_what_was_never_reported_is_named_and_keeps_the_exit_code() -> None:
    ending = Ending()
    ending.pytest_runtest_logreport(report(ITEMS[0], "setup"))
    ending.pytest_runtest_logreport(failed(ITEMS[0]))
    ending.pytest_runtest_logreport(report(ITEMS[1], "setup"))  # and nothing more
    text = "ended early: 2 of 3 not run (b[x], d[x])"
    assert ending.unfinished(ITEMS) == text
    assert ending.exit_code(1, whole=False, gates=False, bounds=True) == 1
    # Pytest says that all is well: a gate that cannot be told is not met all the same.
    assert ending.exit_code(0, whole=False, gates=False, bounds=True) == 10


def test_of_many_that_were_not_run_five_are_named() -> None:
    text = Ending().unfinished([f"x/case.toml::{name}[x]" for name in "abcdefg"])
    assert text == "ended early: 7 of 7 not run (a[x], b[x], c[x], d[x], e[x], ...)"


def test_a_skipped_item_is_done_and_one_without_budget_is_not() -> None:
    ending = Ending()
    ending.pytest_runtest_logreport(report(ITEMS[0], "setup", "skipped"))
    without = report(ITEMS[1], "setup", "skipped", not_run="budget")
    ending.pytest_runtest_logreport(without)
    assert ending.unfinished(ITEMS[:2]) == "ended early: 1 of 2 not run (b[x])"


def test_an_item_with_a_group_of_xdist_is_the_item() -> None:
    ending = Ending()
    ending.pytest_runtest_logreport(failed(f"{ITEMS[0]}@group"))
    assert ending.unfinished(ITEMS[:1]) == ""


@pytest.mark.parametrize("code", [0, 1, 2, 10])
@pytest.mark.parametrize(
    ("stop", "expected"), [((6,), 6), ((7,), 7), ((6, 7), 6), ((6, 9), 9), ((6, 8), 8)]
)
def test_what_stops_a_run_goes_before_all_else(
    code: int, stop: tuple[int, ...], expected: int
) -> None:
    reports = [failed(ITEMS[0])]
    assert ends(*reports, code=code, gates=False, bounds=True, stop=stop) == expected


@pytest.mark.parametrize(
    ("code", "expected"), [(0, 1), (1, 1), (2, 2), (5, 5)], ids=str
)
def test_a_record_that_could_not_be_kept_is_an_error(code: int, expected: int) -> None:
    one = report(ITEMS[0])
    assert ends(one, code=code, gates=True, bounds=True, stop=(1,)) == expected


def test_a_report_carries_the_exit_code_of_a_corpus_that_does_not_verify() -> None:
    collected = pytest.CollectReport("c/a/case.toml", "failed", "", [])
    setattr(collected, EXIT_CODE, 6)
    assert ends(collected, code=2) == 6
    run = report(ITEMS[0], "setup", "failed")
    setattr(run, EXIT_CODE, 9)
    assert ends(run, collected, code=1, gates=True, bounds=True) == 9
