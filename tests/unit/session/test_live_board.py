"""What the live lines say."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_codegenie.harness.progress import CaseProgress
from pytest_codegenie.session.live.board import Board
from pytest_codegenie.session.live.board import cells
from pytest_codegenie.session.live.board import clock
from pytest_codegenie.session.live.board import cut
from pytest_codegenie.session.live.board import tokens


def node(name: str) -> str:
    return f"bench/demo/cases/{name}/case.toml::{name}[shell]"


def board(
    told: Mapping[str, CaseProgress] | None = None,
    *,
    total: int = 4,
    workers: int = 1,
    colours: bool = False,
) -> Board:
    """Return the board of a run in which cases have told something, by name."""
    known = {node(name): progress for name, progress in (told or {}).items()}
    made = Board(lambda nodeid: known.get(nodeid, CaseProgress()), colours=colours)
    made.total = total
    made.workers = workers
    return made


def test_nothing_is_shown_while_nothing_runs() -> None:
    empty = board()
    assert empty.lines(80, 20, 0.0, "a notice") == []
    empty.start(node("a"), 0.0)
    empty.finish(node("a"), 1.0)
    assert empty.lines(80, 20, 2.0, "a notice") == []


def test_a_line_for_each_case_and_a_bar() -> None:
    shown = board(
        {
            "a": CaseProgress(phase="agent", tokens=12_345, cost_usd=0.0625),
            "long": CaseProgress(phase="judge", tokens=999),
        }
    )
    shown.start(node("a"), 0.0)
    shown.start(node("long"), 60.0)
    shown.start(node("c"), 100.0)
    shown.counts.update(failed=1)
    assert shown.lines(80, 20, 100.5) == [
        "a[shell]     agent       1:40  12.3k tokens  0.0625 USD",
        "long[shell]  judge       0:40  999 tokens",
        "c[shell]                 0:00",
        "[--------------------] 0 of 4: 0 passed, 1 failed, 0 errors",
    ]


def test_the_bar_fills_and_tells_the_time_left() -> None:
    shown = board(total=4)
    shown.start(node("a"), 0.0)
    shown.finish(node("a"), 100.0)
    shown.counts.update(passed=1, ambiguous=2)
    shown.start(node("b"), 100.0)
    assert shown.lines(100, 20, 100.0)[-1] == (
        "[#####---------------] 1 of 4: 1 passed, 0 failed, 0 errors, 2 ambiguous; "
        "about 5:00 left"
    )
    assert shown.lines(80, 20, 100.0)[-1].endswith(", 2 ambiguous; ab...")


@pytest.mark.parametrize(
    ("workers", "now", "left"),
    [
        (1, 100.0, 300.0),  # three to go, 100 s each
        (1, 130.0, 270.0),  # one of them has had 30 s
        (1, 900.0, 200.0),  # one lasts longer than the mean: it may end any moment
        (2, 100.0, 150.0),
        (8, 100.0, 100.0),  # five workers have nothing to do
    ],
)
def test_time_left_comes_from_the_mean_and_the_workers(
    workers: int, now: float, left: float
) -> None:
    shown = board(total=4, workers=workers)
    shown.start(node("a"), 0.0)
    assert shown.seconds_left(50.0) is None
    shown.finish(node("a"), 100.0)
    shown.start(node("b"), 100.0)
    assert shown.seconds_left(now) == pytest.approx(left)


def test_cases_that_do_not_fit_are_counted() -> None:
    shown = board(total=9)
    for name in "abcdef":
        shown.start(node(name), 0.0)
    lines = shown.lines(80, 4, 1.0)
    assert [line.split()[0] for line in lines[:2]] == ["a[shell]", "b[shell]"]
    assert lines[2] == "and 4 more"
    assert lines[3].startswith("[----")
    assert [len(shown.lines(80, height, 1.0)) for height in (0, 1, 2)] == [0, 1, 2]
    assert shown.lines(80, 2, 1.0)[0] == "and 6 more"
    assert shown.lines(80, 7, 1.0)[5].startswith("f[shell]")


@pytest.mark.parametrize("width", [1, 2, 5, 10, 20, 30, 40, 79, 80, 200])
def test_no_line_reaches_the_edge(width: int) -> None:
    long = "x" * 128
    shown = board({long: CaseProgress(phase="好" * 40, tokens=5, cost_usd=1.5)})
    shown.start(node(long), 0.0)
    shown.start(node("y"), 0.0)
    for line in shown.lines(width, 20, 7000.0, "a notice of some length"):
        assert cells(line) < width


def test_the_agent_of_a_long_name_stays_in_sight() -> None:
    shown = board({"x" * 40: CaseProgress(phase="agent", tokens=5)})
    shown.start(node("x" * 40), 0.0)
    shown.start("case.toml::short[an-agent-with-quite-a-long-label]", 0.0)
    assert shown.lines(60, 20, 0.0)[:2] == [
        "xxxxxxxxxxxxxxxxxxxxx...[shell]  agent       0:00  5 tokens",
        "short[an-agent-with-quite-a-...              0:00",
    ]


def test_a_notice_stands_below_the_bar() -> None:
    shown = board()
    shown.start(node("a"), 0.0)
    assert shown.lines(80, 20, 0.0, "interrupted")[2] == "interrupted"


def test_a_name_cannot_move_the_cursor() -> None:
    shown = board()
    shown.start("case.toml::evil\x1b[2J\n[shell]", 0.0)
    line = shown.lines(80, 20, 0.0)[0]
    assert line.startswith("evil\\x1b[2J\\n[shell]")


def test_colours_change_no_text_and_only_counts() -> None:
    plain, coloured = board(), board(colours=True)
    for shown in (plain, coloured):
        shown.start(node("a"), 0.0)
        shown.counts.update(passed=3, errors=1)
    bar = coloured.lines(80, 20, 0.0)[-1]
    assert "\x1b[32m3 passed\x1b[0m" in bar
    assert "\x1b[31m1 error\x1b[0m" in bar
    assert ", 0 failed," in bar
    for code in ("\x1b[32m", "\x1b[31m", "\x1b[0m"):
        bar = bar.replace(code, "")
    assert bar == plain.lines(80, 20, 0.0)[-1]


def test_small_words() -> None:
    assert [clock(s) for s in (0.9, 61, 3600, 90061)] == [
        "0:00",
        "1:01",
        "1:00:00",
        "25:01:01",
    ]
    assert [tokens(n) for n in (0, 999, 1000, 1_234_567)] == [
        "0 tokens",
        "999 tokens",
        "1.0k tokens",
        "1.23M tokens",
    ]
    assert [cut("好好好", n) for n in (6, 5, 3, 2, 0)] == [
        "好好好",
        "好...",
        "...",
        "..",
        "",
    ]


def test_what_came_from_the_cache_is_counted_beside_the_outcomes() -> None:
    shown = board()
    shown.start(node("a"), 0.0)
    shown.counts["passed"] = 3
    assert "cached" not in shown.lines(80, 20, 1.0)[-1]
    shown.recalled = 2
    assert "3 passed, 0 failed, 0 errors (2 cached)" in shown.lines(80, 20, 1.0)[-1]


def test_what_comes_from_a_record_is_done_at_once_and_tells_no_time() -> None:
    shown = board(total=5)
    for number in range(3):
        shown.start(node(f"{number}"), 0.0)
        shown.finish(node(f"{number}"), 0.0, ran=False)
    shown.start(node("a"), 0.0)
    assert shown.lines(80, 20, 1.0)[-1].startswith("[############--------] 3 of 5: ")
    assert shown.seconds_left(1.0) is None
    shown.finish(node("a"), 60.0)
    assert shown.seconds_left(60.0) == 60.0
