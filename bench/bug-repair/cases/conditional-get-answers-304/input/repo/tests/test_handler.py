from datetime import UTC, datetime, timedelta

import pytest

from leafserve import Handler, Request, Store

PUBLISHED = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)


@pytest.fixture
def store():
    store = Store()
    store.publish("/intro.html", b"<h1>Intro</h1>", PUBLISHED)
    return store


@pytest.fixture
def ask(store):
    def ask(method="GET", path="/intro.html", **fields):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        return Handler(store).handle(Request(method, path, headers))

    return ask


def test_get(ask):
    response = ask()
    assert (response.status, response.body) == (200, b"<h1>Intro</h1>")
    assert response.headers["content-type"] == "text/html"
    assert response.headers["Last-Modified"] == "Sun, 01 Mar 2026 12:00:00 GMT"


def test_head(ask):
    response = ask("HEAD")
    assert (response.status, response.body) == (200, b"")
    assert response.headers["Content-Length"] == "14"


def test_other_methods_and_paths(ask):
    assert ask("PUT").status == 405
    assert ask(path="/outro.html").status == 404


def test_same_tag(ask):
    tag = ask().headers["ETag"]
    response = ask(if_none_match=f'"other", {tag}')
    assert (response.status, response.body) == (304, b"")
    assert response.headers["ETag"] == tag


def test_new_content_has_a_new_tag(ask, store):
    tag = ask().headers["ETag"]
    store.publish("/intro.html", b"<h1>Hello</h1>", PUBLISHED + timedelta(days=1))
    response = ask(if_none_match=tag)
    assert (response.status, response.body) == (200, b"<h1>Hello</h1>")


@pytest.mark.parametrize(
    ("date", "status"),
    [
        ("Sun, 01 Mar 2026 11:59:59 GMT", 200),
        ("Sun, 01 Mar 2026 12:00:00 GMT", 304),
        ("Mon, 02 Mar 2026 12:00:00 GMT", 304),
        ("yesterday", 200),
    ],
    ids=["before", "same", "after", "no-date"],
)
def test_modified_since(ask, date, status):
    assert ask(if_modified_since=date).status == status


def test_if_match(ask):
    tag = ask().headers["ETag"]
    assert ask(if_match=tag).status == 200
    assert ask(if_match="*").status == 200
    assert ask(if_match='"other"').status == 412


def test_unmodified_since(ask):
    assert ask(if_unmodified_since="Sun, 01 Mar 2026 12:00:00 GMT").status == 200
    assert ask(if_unmodified_since="Sun, 01 Mar 2026 11:59:59 GMT").status == 412
