"""The WSGI application."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quayside.caching import cache_control, etag, is_fresh
from quayside.config import Settings
from quayside.files import FileTree
from quayside.media import content_type

SOURCE_PREFIX = "/_source/"
access_log = logging.getLogger("quayside.access")


@dataclass(frozen=True)
class Response:
    status: HTTPStatus
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class DocsApp:
    """Answers GET and HEAD for the files that the settings publish."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._site = FileTree(settings.site)
        self._sources = FileTree(settings.sources) if settings.sources else None

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        # WSGI hands bytes over as latin-1; the paths themselves are UTF-8.
        raw_path = environ.get("PATH_INFO", "") or "/"
        path = raw_path.encode("latin-1").decode("utf-8", "replace")

        response = self._respond(method, path, environ.get("HTTP_IF_NONE_MATCH"))
        access_log.info("%s %r %d", method, path, response.status)

        headers = {"Content-Length": str(len(response.body)), **response.headers}
        status = f"{response.status.value} {response.status.phrase}"
        start_response(status, list(headers.items()))
        return [] if method == "HEAD" else [response.body]

    def _respond(self, method: str, path: str, known: str | None) -> Response:
        if method not in ("GET", "HEAD"):
            return Response(
                HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD"}
            )
        if path.startswith(SOURCE_PREFIX):
            return self._source(path.removeprefix(SOURCE_PREFIX), known)
        return self._page(path, known)

    def _page(self, path: str, known: str | None) -> Response:
        if not path.endswith("/") and self._site.is_folder(path):
            location = quote(f"{path}/")
            return Response(
                HTTPStatus.MOVED_PERMANENTLY, headers={"Location": location}
            )
        found = self._site.find(path)
        if found is None:
            return self._missing()
        return self._file(found, content_type(found), known)

    def _source(self, path: str, known: str | None) -> Response:
        found = self._sources.find(path) if self._sources else None
        if found is None:
            return self._missing()
        return self._file(found, "text/plain; charset=utf-8", known)

    def _file(self, path: Path, kind: str, known: str | None) -> Response:
        tag = etag(path.stat())
        headers = {
            "Cache-Control": cache_control(self._settings.max_age_for(path)),
            "ETag": tag,
        }
        if is_fresh(tag, known):
            return Response(HTTPStatus.NOT_MODIFIED, headers=headers)
        headers["Content-Type"] = kind
        return Response(HTTPStatus.OK, path.read_bytes(), headers)

    def _missing(self) -> Response:
        custom = self._site.find("404.html")
        body = custom.read_bytes() if custom else b"<h1>Not found</h1>\n"
        headers = {"Content-Type": "text/html; charset=utf-8"}
        return Response(HTTPStatus.NOT_FOUND, body, headers)
