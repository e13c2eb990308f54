import pytest

from logsift import ParseError, format_record, parse_line, read_records
from logsift.cli import main


def test_example_of_the_report():
    line = r'level=warn msg="unknown unit \"furlong\" in request" user=ada'
    assert parse_line(line) == {
        "level": "warn",
        "msg": 'unknown unit "furlong" in request',
        "user": "ada",
    }


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (r"\"", '"'),
        (r"say \"hi\"", 'say "hi"'),
        (r"\"hi\" he said", '"hi" he said'),
        (r"\"\"", '""'),
        (r"\\\"", '\\"'),
        (r"a\\\\\"b", 'a\\\\"b'),
    ],
    ids=["only", "last", "first", "two", "after-backslash", "after-two"],
)
def test_escaped_quotation_marks(raw, value):
    assert parse_line(f'msg="{raw}" after=1') == {"msg": value, "after": "1"}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (r"C:\\", "C:\\"),
        (r"\\", "\\"),
        (r"\\\\", "\\\\"),
        (r"\\n", r"\n"),
        (r"\d+\.", r"\d+\."),
    ],
    ids=["drive", "one", "two", "letter", "not-an-escape"],
)
def test_backslashes_do_not_hide_the_end(raw, value):
    assert parse_line(f'dir="{raw}" msg="a b"') == {"dir": value, "msg": "a b"}


@pytest.mark.parametrize(
    "value",
    ['a "b" c', 'ends in "x"', '"', 'back\\slash "q"', "tail \\", 'both \\" \\\\"'],
    ids=["inside", "at-the-end", "alone", "and-backslash", "tail", "both"],
)
def test_what_is_written_can_be_read(value):
    record = {"before": "1", "msg": value, "after": True}
    assert parse_line(format_record(record)) == record


def test_records_with_quotation_marks_are_kept():
    lines = ['a="say \\"hi\\""\n', "b=2\n"]
    assert list(read_records(lines, strict=True)) == [{"a": 'say "hi"'}, {"b": "2"}]


def test_fields_within_a_message_are_no_fields(tmp_path, capsys):
    log = tmp_path / "gateway.log"
    line = r'user=ada msg="rejected \"user= bob\" twice"'
    log.write_text(line + "\n", encoding="utf-8")
    main(["--where", "user=ada", str(log)])
    assert capsys.readouterr().out == line + "\n"


@pytest.mark.parametrize(
    ("line", "column"),
    [('msg="no end', 5), (r'a=1 msg="no end\"', 9), (r'msg="\\\"', 5)],
    ids=["plain", "escaped-quote", "backslash-and-quote"],
)
def test_unterminated_value(line, column):
    with pytest.raises(ParseError, match="unterminated quoted value") as caught:
        parse_line(line)
    assert caught.value.column == column


def test_empty_quoted_value():
    assert parse_line('a="" b="x"') == {"a": "", "b": "x"}


def test_bare_values_know_no_escapes():
    assert parse_line(r"a=x\"y b=C:\ c=1") == {"a": r"x\"y", "b": "C:\\", "c": "1"}
