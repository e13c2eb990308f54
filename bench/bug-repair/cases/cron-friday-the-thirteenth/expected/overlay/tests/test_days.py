"""The two day fields mean what crontab(5) and docs/expressions.md say."""

from datetime import date, datetime, timedelta

import pytest

from tickplan import CronExpression, agenda, read_table
from tickplan.cli import main


def days(text, first="2026-02-01", count=28):
    """The days of the period on which the expression runs."""
    expression = CronExpression.parse(text)
    start = date.fromisoformat(first)
    period = (start + timedelta(days=offset) for offset in range(count))
    return [day.day for day in period if expression.matches_day(day)]


def test_both_fields_restricted_means_either():
    assert days("0 9 13 * fri") == [6, 13, 20, 27]
    assert days("0 9 13 * fri", "2026-01-01", 31) == [2, 9, 13, 16, 23, 30]


def test_the_example_of_the_manual():
    assert days("30 4 1,15 * 5") == [1, 6, 13, 15, 20, 27]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 9 13 * *", [13]),
        ("0 9 * * fri", [6, 13, 20, 27]),
        ("0 9 * * *", list(range(1, 29))),
    ],
    ids=["date", "weekday", "neither"],
)
def test_a_star_leaves_the_other_field_to_decide(text, expected):
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 4 */2 * mon", [9, 23]),
        ("0 4 13 * */5", [13]),
        ("0 4 14 * */5", []),
        ("0 4 */10 * */3", [1, 11, 21]),
    ],
    ids=["date", "weekday", "weekday-never", "both"],
)
def test_a_field_that_starts_with_a_star_has_to_match_too(text, expected):
    assert days(text) == expected


def test_a_range_of_everything_is_a_restriction():
    assert days("0 9 1-31 * fri") == list(range(1, 29))
    assert days("0 9 13 * 0-6") == list(range(1, 29))


def test_the_month_has_to_match_in_any_case():
    assert days("0 9 13 3 fri") == []
    assert days("0 9 13 2 fri") == [6, 13, 20, 27]


def test_matches_goes_by_the_same_rule():
    expression = CronExpression.parse("0 9 13 * fri")
    assert expression.matches(datetime.fromisoformat("2026-01-13 09:00"))
    assert expression.matches(datetime.fromisoformat("2026-02-06 09:00"))
    assert not expression.matches(datetime.fromisoformat("2026-02-06 10:00"))
    assert not expression.matches(datetime.fromisoformat("2026-02-07 09:00"))


def test_next_after_goes_by_the_same_rule():
    expression = CronExpression.parse("0 9 13 * fri")
    run = datetime.fromisoformat("2026-01-09 09:00")
    found = []
    for _ in range(4):
        run = expression.next_after(run)
        found.append(f"{run:%m-%d %H:%M}")
    assert found == ["01-13 09:00", "01-16 09:00", "01-23 09:00", "01-30 09:00"]


def test_a_day_that_matches_both_has_one_run():
    jobs = read_table("0 9 13 * fri  safety-mail")
    runs = agenda(jobs, datetime.fromisoformat("2026-02-13"), 1)
    assert [str(run) for run in runs] == ["2026-02-13 09:00  safety-mail"]


def test_the_option_of_a_table_is_for_a_friday_the_13th(tmp_path, capsys):
    table = tmp_path / "jobs.tab"
    table.write_text("0 9 13 * * only=fri  safety-mail\n")
    assert main(["agenda", str(table), "--from", "2026-01-01", "--days", "365"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2026-02-13 09:00  safety-mail",
        "2026-03-13 09:00  safety-mail",
        "2026-11-13 09:00  safety-mail",
    ]


def test_the_option_applies_on_top_of_either_field():
    jobs = read_table("0 9 13 * fri only=tue,fri  mail")
    runs = agenda(jobs, datetime.fromisoformat("2026-01-08"), 10)
    assert [run.at.day for run in runs] == [9, 13, 16]
