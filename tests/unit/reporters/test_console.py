"""The reporter ``console``: what a person sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support_runs import reported
from support_runs import result
from support_runs import store_run

from pytest_codegenie.reporters import Form
from pytest_codegenie.reporters.console import LISTED


def figures(text: str, agent: str) -> list[str]:
    """Return the cells of an agent's row."""
    return next(line.split() for line in text.splitlines() if line.startswith(agent))


def test_it_shows_the_figures_and_then_what_did_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = store_run(
        tmp_path,
        [
            *(result(f"p{n}", cost=0.25, tokens=1200) for n in range(3)),
            result("f", "failed", score=0.5, mode="not_resolved", message="why\nmore"),
            result("e", "error", mode="agent.error", message="429"),
            result("d", "failed", disposition="ambiguous"),
            result("p", agent="other", task_class="second"),
        ],
    )
    (run.directory / "cases/f/nop-t1").mkdir(parents=True)
    text = reported(run, "console")
    assert "run example, begun 2026-11-21 12:00:00 UTC\n" in text
    bound = figures(text, "nop")[7]
    assert figures(text, "nop") == [
        *("nop", "6", "3", "1", "1", "1", "0.875", bound),
        *("≥0.7500", "≥3.6k", "9.0", "s"),
    ]
    assert 0 < float(bound) < 0.875
    assert figures(text, "other") == [
        *("other", "1", "1", "0", "0", "0", "1.000", "n/a"),
        *("unknown", "unknown", "1.5", "s"),
    ]
    assert "no bound for second [other]: too few cases (1 of at least 3)" in text
    assert "≥: of other results the agent reported none." in text
    shown = text[text.index("no pass") :]
    assert re.search(r"failed +demo f\[nop\] +not_resolved\n", shown)
    assert re.search(r"\n +cases/f/nop-t1 +why\n", shown)
    assert re.search(r"error +demo e\[nop\] +agent\.error\n +429\n", shown)
    assert re.search(r"ambiguous demo d\[nop\] +not passed\n", shown)
    assert text.endswith("\n\nartifacts are below runs/example\n")


def test_trials_are_counted_as_results_and_it_says_so(tmp_path: Path) -> None:
    one = [result("a"), result("b")]
    assert "Each trial" not in reported(store_run(tmp_path, one), "console")
    trials = [result("a"), result("a", "failed", trial=2)]
    text = reported(store_run(tmp_path / "2", trials, trials=2), "console")
    assert figures(text, "nop")[:4] == ["nop", "1", "1", "1"]
    assert "Each trial of a case is a result of its own" in text
    assert "demo a[nop-t2]" in text
    assert (
        "trials of demo [nop]: pass@1 0.500  pass@2 1.000  pass^2 0.000; 1 of 1 cases\n"
        "flip\n"
    ) in text


def test_it_fits_the_width_whatever_the_names_are(tmp_path: Path) -> None:
    run = store_run(
        tmp_path,
        [
            result(
                "c" * 128,
                "failed",
                agent="a" * 64,
                task_class="t" * 64,
                mode="m" * 100,
                message="w" * 5000,
                cost=123456.25,
                tokens=987_654_321,
            ),
            result("x", "error", agent="b", message="漢字 " * 200),
        ],
        selected=["c" * 128 + "[" + "a" * 64 + "]"] * 9,
    )
    for columns in (20, 80, 132):
        lines = reported(run, "console", Form(columns=columns)).splitlines()
        assert max(map(width, lines)) <= max(columns, 80)
        assert any("123456.2500" in line for line in lines)
        assert any("987.7M" in line for line in lines)
        assert lines == [line.rstrip() for line in lines]


def width(line: str) -> int:
    return sum(2 if "一" <= char <= "鿿" else 1 for char in line)


@pytest.mark.parametrize("colours", [False, True])
def test_colours_only_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, colours: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "30")
    run = store_run(tmp_path, [result("a"), result("b", "failed")])
    text = reported(run, "console", Form(colours=colours))
    assert ("\x1b[" in text) is colours
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert figures(plain, "nop")[:4] == ["nop", "2", "1", "1"]


def test_what_an_agent_says_is_no_markup_and_no_control_sequence(
    tmp_path: Path,
) -> None:
    said = "[red]x[/red] :smile: \x1b]0;title\x07 \x9b2J"
    run = store_run(tmp_path, [result("a", "failed", mode=said, message=said)])
    text = reported(run, "console", Form(columns=200))
    assert text.isprintable() is False  # its own line ends
    assert all(line.isprintable() for line in text.splitlines())
    assert text.count(r"[red]x[/red] :smile: \x1b]0;title\x07 \x9b2J") == 2


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    results = [result(f"c{number:03}", "failed") for number in range(LISTED + 3)]
    run = store_run(tmp_path, results)
    text = reported(run, "console")
    assert f"demo c{LISTED - 1:03}[nop]" in text
    assert f"demo c{LISTED:03}[nop]" not in text
    assert "and 3 more: codegenie report example --format csv" in text


def test_a_run_that_was_cut_off_says_so(tmp_path: Path) -> None:
    run = store_run(tmp_path, [result("a")], selected=["a[nop]", "b[nop]"])
    assert (
        "not finished: 1 of 2 items have a result; without one: b[nop]; resume it: "
        "pytest --codegenie-resume example\n"
    ) in reported(run, "console")


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (999_949, "999.9k"), (1_000_000, "1.0M")],
)
def test_tokens_are_short(tmp_path: Path, tokens: int, shown: str) -> None:
    run = store_run(tmp_path, [result("a", tokens=tokens)])
    assert figures(reported(run, "console"), "nop")[9] == shown
