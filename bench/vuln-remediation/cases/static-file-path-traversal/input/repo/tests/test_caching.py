import pytest

from quayside.caching import cache_control, is_fresh


def test_known_validator_is_not_sent_again(client):
    tag = client.get("/index.html").headers["ETag"]
    answer = client.get("/index.html", HTTP_IF_NONE_MATCH=tag)
    assert (answer.status, answer.body) == (304, b"")


def test_changed_file_is_sent_again(client, base):
    tag = client.get("/index.html").headers["ETag"]
    (base / "public" / "index.html").write_text("longer than before")
    assert client.get("/index.html", HTTP_IF_NONE_MATCH=tag).status == 200


def test_lifetime_depends_on_the_suffix(client):
    css = client.get("/static/site.css").headers["Cache-Control"]
    assert css == "public, max-age=86400"
    html = client.get("/index.html").headers["Cache-Control"]
    assert html == "public, max-age=60"


@pytest.mark.parametrize(
    ("header", "fresh"),
    [(None, False), ('"a"', True), ('W/"a"', True), ('"b", "a"', True), ("*", True)],
    ids=["none", "same", "weak", "one-of-two", "any"],
)
def test_is_fresh(header, fresh):
    assert is_fresh('"a"', header) is fresh


def test_no_lifetime_at_all():
    assert cache_control(0) == "no-cache"
