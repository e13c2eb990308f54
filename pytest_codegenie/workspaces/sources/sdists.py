"""A source distribution of the package index that the user's pip and uv ask.

Not by ``pip download``, which runs the project's own code to learn its metadata.
"""

from __future__ import annotations

import html.parser
import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.error import URLError
from urllib.parse import unquote
from urllib.parse import urldefrag
from urllib.parse import urljoin
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.utils import InvalidSdistFilename
from packaging.utils import parse_sdist_filename
from packaging.version import Version

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.index_settings import IndexSettings
from pytest_codegenie.workspaces.sources.archives import check_hash
from pytest_codegenie.workspaces.sources.archives import unpack
from pytest_codegenie.workspaces.sources.downloads import download
from pytest_codegenie.workspaces.sources.downloads import open_url
from pytest_codegenie.workspaces.sources.urls import without_password


PREFIX = "sdist:"
#: PEP 691, then PEP 503.
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)
_MAX_PAGE_BYTES = 64 << 20
_SHA256 = re.compile(r"(?:^|&)sha256=([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True)
class Link:
    """A file that an index has."""

    url: str
    #: What the index says; "": nothing.
    sha256: str = ""

    @property
    def name(self) -> str:
        """Return the file's name."""
        return unquote(urlsplit(self.url).path).rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Sdist:
    """What an index has of a version of a project."""

    #: As an index calls it: lower case, with ``-``.
    name: str
    version: str
    #: Of the file's bytes, 64 hex digits; "": nobody said.
    sha256: str = ""

    @property
    def key(self) -> str:
        """Return the hash, if it is known."""
        return f"sha256-{self.sha256}" if self.sha256 else ""

    @property
    def shown(self) -> str:
        """Return what ``repository.source`` says."""
        return f"{PREFIX}{self.name}=={self.version}"

    def fetch(self, directory: Path, seconds: float) -> Path:
        """Return the files of the sdist, without the directory that they are all in."""
        link = self._choose()
        file = directory / "archive"
        found = download(link.url, file, seconds)
        check_hash(f"{self.shown} ({without_password(link.url)})", found, self.sha256)
        return unpack(file, directory / "unpacked", shown=self.shown)

    def _choose(self) -> Link:
        """Return the file with the hash that is asked for, or that may have it."""
        links = []
        for link in find_sdists(self.name, self.version):
            if link.sha256 == self.sha256 or not self.sha256:
                return link
            links.append(link)
        unknown = [link for link in links if not link.sha256]
        if unknown:
            return unknown[0]
        if not links:
            indexes, pages = _places()
            asked = ", ".join(map(without_password, [*indexes, *pages]))
            raise WorkspaceUnavailable(
                f"no index has {self.shown} as a source distribution; asked: "
                f"{asked or 'none'} (the settings of pip or uv, such as PIP_INDEX_URL)"
            )
        # Of another hash: what comes is checked, and the message has both.
        return links[0]


def find_sdists(name: str, version: str) -> Iterator[Link]:
    """Yield the sdists of a version, in the order in which pip's settings name places.

    Raises:
        WorkspaceUnavailable: A place cannot be reached.
    """
    wanted = Version(version)
    indexes, pages = _places()
    found_in = [_links(_page_of(index, name)) for index in indexes]
    found_in += [_links(_as_url(page)) for page in pages]
    for links in found_in:
        for link in links:
            try:
                found = parse_sdist_filename(link.name)
            except InvalidSdistFilename:
                continue
            if found == (name, wanted):
                yield link


def _places() -> tuple[list[str], list[str]]:
    """Return the URLs of indexes, and the pages and directories with links."""
    settings = IndexSettings.of_user()
    words = {**settings.for_uv(), **settings.variables}
    pages = words.get("UV_FIND_LINKS", "").replace(",", " ").split()
    if settings.pip.get("no-index", ("",))[-1].lower() in ("1", "true", "yes", "on"):
        return [], pages
    named = words.get("UV_DEFAULT_INDEX") or words.get("UV_INDEX_URL")
    first = [named] if named else _default_index()
    more = f"{words.get('UV_INDEX', '')} {words.get('UV_EXTRA_INDEX_URL', '')}"
    # ``name=https://...``, as uv has it.
    return [re.sub(r"^[\w.-]+=", "", url) for url in (*first, *more.split())], pages


def _default_index() -> list[str]:
    """Return the index that pip asks where nobody names one; nothing without pip."""
    try:
        known = importlib.import_module("pip._internal.models.index")
        return [known.PyPI.simple_url]
    except (ImportError, AttributeError):
        return []


def _page_of(index: str, name: str) -> str:
    """Return the URL of a project's page."""
    page = f"{_as_url(index).rstrip('/')}/{name}/"
    return page if _local(page) is None else f"{page}index.html"


def _as_url(place: str) -> str:
    return place if "://" in place else Path(place).absolute().as_uri()


def _links(place: str) -> Iterator[Link]:
    """Yield what a page or a directory has; nothing where there is none."""
    local = _local(place)
    if local is not None and local.is_dir():
        yield from (Link(path.as_uri()) for path in sorted(local.iterdir()))
        return
    try:
        response = open_url(place, accept=_ACCEPT)
    except WorkspaceUnavailable as exc:
        if _has_nothing(exc.__cause__):
            return
        raise WorkspaceUnavailable(
            f"{exc.reason}; without the network, name an archive of this machine"
        ) from exc
    with response:
        kind = response.headers.get_content_type()  # type: ignore[attr-defined]
        base: str = response.url  # type: ignore[attr-defined]
        data = response.read(_MAX_PAGE_BYTES)
    read = _read_json if kind.endswith("json") else _read_html
    yield from read(data, _with_credentials(base, place))


def _local(url: str) -> Path | None:
    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _has_nothing(cause: object) -> bool:
    """Say whether a place was asked, and does not have the project."""
    if isinstance(cause, HTTPError):
        return cause.code in (404, 410)
    return isinstance(cause, URLError) and isinstance(cause.reason, FileNotFoundError)


def _with_credentials(base: str, asked: str) -> str:
    """Return where a page is, with the user's name if it is the same server."""
    parts, known = urlsplit(base), urlsplit(asked)
    if known.username and parts.netloc == known.netloc.rpartition("@")[2]:
        return parts._replace(netloc=known.netloc).geturl()
    return base


def _read_json(data: bytes, base: str) -> Iterator[Link]:
    try:
        for file in json.loads(data)["files"]:
            hashes = file.get("hashes") or {}
            yield Link(urljoin(base, file["url"]), str(hashes.get("sha256", "")))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as exc:
        raise WorkspaceUnavailable(
            f"{without_password(base)}: no page of a package index: {exc!r}"
        ) from exc


def _read_html(data: bytes, base: str) -> Iterator[Link]:
    page = _Page()
    page.feed(data.decode(errors="replace"))
    for reference in page.references:
        url, fragment = urldefrag(urljoin(base, reference))
        found = _SHA256.search(fragment)
        yield Link(url, found[1].lower() if found else "")


class _Page(html.parser.HTMLParser):
    """Collects the links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.references += [
            value for key, value in attrs if (tag, key) == ("a", "href") and value
        ]
