"""Answers HTTP requests for a tree of published pages."""

from leafserve.etags import EntityTag, parse_tags
from leafserve.handler import Handler
from leafserve.messages import Headers, Request, Response
from leafserve.store import Page, Store

__all__ = [
    "EntityTag",
    "Handler",
    "Headers",
    "Page",
    "Request",
    "Response",
    "Store",
    "parse_tags",
]
