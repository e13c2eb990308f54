from datetime import datetime

import pytest

from tickplan import CronExpression, ExpressionError


def after(text, moment):
    run = CronExpression.parse(text).next_after(datetime.fromisoformat(moment))
    return run and f"{run:%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("text", "moment", "run"),
    [
        ("30 6 * * mon-fri", "2026-02-13 07:00", "2026-02-16 06:30"),
        ("30 6 * * mon-fri", "2026-02-13 06:29", "2026-02-13 06:30"),
        ("*/15 * * * *", "2026-02-13 23:45", "2026-02-14 00:00"),
        ("0 9 13 * *", "2026-02-13 09:00", "2026-03-13 09:00"),
        ("0 0 31 * *", "2026-03-31 00:00", "2026-05-31 00:00"),
        ("0 0 29 feb *", "2096-03-01 00:00", "2104-02-29 00:00"),
        ("0 0 30 2 *", "2026-02-13 00:00", None),
    ],
)
def test_next_after(text, moment, run):
    assert after(text, moment) == run


def test_matches_to_the_minute():
    expression = CronExpression.parse("30 6 * 2 *")
    assert expression.matches(datetime.fromisoformat("2026-02-13 06:30:59"))
    assert not expression.matches(datetime.fromisoformat("2026-02-13 06:31:00"))
    assert not expression.matches(datetime.fromisoformat("2026-03-13 06:30:00"))


def test_five_fields():
    with pytest.raises(ExpressionError, match="not 4"):
        CronExpression.parse("0 9 13 *")
