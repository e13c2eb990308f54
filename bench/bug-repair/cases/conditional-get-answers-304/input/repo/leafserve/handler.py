"""From requests to responses."""

from __future__ import annotations

from leafserve.conditions import not_modified, precondition_failed
from leafserve.httpdates import format_date
from leafserve.messages import Headers, Request, Response
from leafserve.store import Page, Store

METHODS = ("GET", "HEAD")


def validators(page: Page) -> dict[str, str]:
    """Return the header fields that a client needs to ask again."""
    return {"ETag": str(page.tag), "Last-Modified": format_date(page.modified)}


class Handler:
    """Answers requests from a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def handle(self, request: Request) -> Response:
        """Return the response to a request."""
        if request.method not in METHODS:
            return Response(405, Headers({"Allow": ", ".join(METHODS)}))
        page = self._store.get(request.path)
        if page is None:
            return Response(404)
        if precondition_failed(request.headers, page):
            return Response(412)
        if not_modified(request.headers, page):
            return Response(304, Headers(validators(page)))
        headers = Headers(
            {
                **validators(page),
                "Content-Type": page.media_type,
                "Content-Length": str(len(page.content)),
            }
        )
        return Response(200, headers, page.content if request.method == "GET" else b"")
