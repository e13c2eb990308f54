import pytest

from logsift import ParseError, format_record, parse_line, read_records


def test_bare_values():
    assert parse_line("level=info status=200 empty= tls\n") == {
        "level": "info",
        "status": "200",
        "empty": "",
        "tls": True,
    }


def test_quoted_value():
    line = 'level=info msg="listening on :8080" tls'
    record = parse_line(line)
    assert record == {"level": "info", "msg": "listening on :8080", "tls": True}
    assert format_record(record) == line


def test_equals_sign_in_values():
    record = parse_line('query=a=b msg="a = b"')
    assert record == {"query": "a=b", "msg": "a = b"}


def test_escapes():
    assert parse_line(r'msg="one\ntwo\tthree"') == {"msg": "one\ntwo\tthree"}


def test_backslash_in_bare_value():
    assert parse_line(r"path=C:\new level=info") == {
        "path": r"C:\new",
        "level": "info",
    }


def test_last_value_wins():
    assert parse_line("a=1 b=2 a=3") == {"a": "3", "b": "2"}


@pytest.mark.parametrize(
    ("line", "column"),
    [('msg="no end', 5), ("=value", 1), ("a=1  =2", 6)],
    ids=["no-end", "no-key", "no-second-key"],
)
def test_errors_tell_the_column(line, column):
    with pytest.raises(ParseError) as caught:
        parse_line(line)
    assert caught.value.column == column


def test_records_skip_what_is_not_logfmt():
    lines = ["a=1\n", "\n", '=b "\n', "c=3\n"]
    assert list(read_records(lines)) == [{"a": "1"}, {"c": "3"}]
    with pytest.raises(ParseError):
        list(read_records(lines, strict=True))
