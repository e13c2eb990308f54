import pytest

from leafserve import EntityTag, Store, parse_tags


def test_parse_tags():
    assert parse_tags('"a", W/"b,c" ,""') == [
        EntityTag("a"),
        EntityTag("b,c", weak=True),
        EntityTag(""),
    ]
    assert parse_tags(" * ") is None


@pytest.mark.parametrize(
    "text", ["", "a", "'a'", 'w/"a"'], ids=["empty", "bare", "single", "case"]
)
def test_what_is_no_tag(text):
    assert parse_tags(text) == []


def test_text():
    assert str(EntityTag("a")) == '"a"'
    assert str(EntityTag("a", weak=True)) == 'W/"a"'


def test_strong_comparison():
    assert EntityTag("a").matches_strongly(EntityTag("a"))
    assert not EntityTag("a").matches_strongly(EntityTag("b"))


def test_path_is_absolute():
    with pytest.raises(ValueError, match="begin with a slash"):
        Store().publish("intro.html", b"", None)
