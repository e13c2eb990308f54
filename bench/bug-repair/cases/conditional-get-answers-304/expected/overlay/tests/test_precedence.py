"""What RFC 9110 says of requests with several preconditions."""

from datetime import UTC, datetime

import pytest

from leafserve import EntityTag, Handler, Request, Store

CONTENT = b"<h1>Intro</h1>"
BEFORE = "Sun, 01 Mar 2026 00:00:00 GMT"
AFTER = "Mon, 30 Mar 2026 00:00:00 GMT"
DATES = ["before", "after", "no-date"]


@pytest.fixture
def store():
    store = Store()
    store.publish("/intro.html", CONTENT, datetime(2026, 3, 9, tzinfo=UTC))
    return store


@pytest.fixture
def ask(store):
    def ask(method="GET", **fields):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        return Handler(store).handle(Request(method, "/intro.html", headers))

    return ask


@pytest.fixture
def tag(ask):
    return ask().headers["ETag"]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("date", [BEFORE, AFTER, "yesterday"], ids=DATES)
def test_same_tag_counts_whatever_the_date(ask, tag, method, date):
    response = ask(method, if_none_match=tag, if_modified_since=date)
    assert (response.status, response.body) == (304, b"")


@pytest.mark.parametrize("date", [BEFORE, AFTER, "yesterday"], ids=DATES)
def test_other_tag_counts_whatever_the_date(ask, date):
    response = ask(if_none_match='"other"', if_modified_since=date)
    assert (response.status, response.body) == (200, CONTENT)


def test_list_without_tags_still_hides_the_date(ask):
    assert ask(if_none_match="", if_modified_since=AFTER).status == 200


def test_publishing_the_same_content_again_keeps_the_tag(ask, store, tag):
    store.publish("/intro.html", CONTENT, datetime(2026, 4, 1, tzinfo=UTC))
    response = ask(if_none_match=tag, if_modified_since=BEFORE)
    assert response.status == 304
    assert response.headers["ETag"] == tag
    assert response.headers["Last-Modified"] == "Wed, 01 Apr 2026 00:00:00 GMT"


def test_publishing_other_content_at_the_same_time_changes_the_tag(ask, store, tag):
    store.publish("/intro.html", b"<h1>Hello</h1>", datetime(2026, 3, 9, tzinfo=UTC))
    response = ask(if_none_match=tag, if_modified_since=AFTER)
    assert (response.status, response.body) == (200, b"<h1>Hello</h1>")


def test_weak_tags_are_good_enough_to_keep_a_page(ask, tag):
    assert ask(if_none_match=f"W/{tag}").status == 304
    assert ask(if_none_match=f'W/"other", W/{tag}').status == 304


def test_weak_tags_are_not_good_enough_for_if_match(ask, tag):
    assert ask(if_match=f"W/{tag}").status == 412


def test_any_tag(ask):
    assert ask(if_none_match="*", if_modified_since=BEFORE).status == 304


def test_if_match_hides_if_unmodified_since(ask, tag):
    assert ask(if_match=tag, if_unmodified_since=BEFORE).status == 200
    assert ask(if_match='"other"', if_unmodified_since=AFTER).status == 412


def test_failed_precondition_goes_before_not_modified(ask, tag):
    assert ask(if_match='"other"', if_none_match=tag).status == 412
    assert ask(if_match=tag, if_none_match=tag).status == 304


def test_date_counts_without_a_tag(ask):
    assert ask(if_modified_since=BEFORE).status == 200
    assert ask(if_modified_since=AFTER).status == 304


def test_comparisons():
    strong, weak = EntityTag("a"), EntityTag("a", weak=True)
    assert strong.matches_weakly(weak)
    assert weak.matches_weakly(weak)
    assert not weak.matches_strongly(weak)
    assert not strong.matches_strongly(weak)
