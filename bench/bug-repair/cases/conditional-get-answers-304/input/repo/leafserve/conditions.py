"""The preconditions of a request."""

from __future__ import annotations

from collections.abc import Mapping

from leafserve.etags import any_strong_match, any_weak_match, parse_tags
from leafserve.httpdates import parse_date
from leafserve.store import Page


def precondition_failed(headers: Mapping[str, str], page: Page) -> bool:
    """Return whether the request is not for this version of the page."""
    tags = headers.get("If-Match")
    if tags is not None:
        return not any_strong_match(page.tag, parse_tags(tags))
    moment = parse_date(headers.get("If-Unmodified-Since"))
    return moment is not None and page.modified > moment


def not_modified(headers: Mapping[str, str], page: Page) -> bool:
    """Return whether the client has this version of the page."""
    tags = headers.get("If-None-Match")
    if tags is not None:
        return any_weak_match(page.tag, parse_tags(tags))
    moment = parse_date(headers.get("If-Modified-Since"))
    return moment is not None and page.modified <= moment
