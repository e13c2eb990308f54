import pytest

from tickplan import ExpressionError
from tickplan.fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, parse_field


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("5", HOUR, {5}),
        ("1-3", DAY, {1, 2, 3}),
        ("*/20", MINUTE, {0, 20, 40}),
        ("8-18/5", HOUR, {8, 13, 18}),
        ("1,15,20-22", DAY, {1, 15, 20, 21, 22}),
        ("Jan,DEC", MONTH, {1, 12}),
        ("mon-fri", WEEKDAY, {1, 2, 3, 4, 5}),
        ("5-7", WEEKDAY, {5, 6, 0}),
    ],
)
def test_values(text, kind, values):
    assert parse_field(text, kind).values == values


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("60", MINUTE, "60 is not from 0 to 59"),
        ("0", DAY, "0 is not from 1 to 31"),
        ("fry", WEEKDAY, "'fry' is not a value"),
        ("5-1", HOUR, "runs backwards"),
        ("*/0", HOUR, "'0' is not a step"),
        ("5/2", HOUR, "needs a range or a star"),
    ],
)
def test_what_is_no_field(text, kind, reason):
    with pytest.raises(ExpressionError, match=reason):
        parse_field(text, kind)
