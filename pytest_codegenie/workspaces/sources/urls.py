"""URLs as they are named, without what fetching them takes."""

from __future__ import annotations

from urllib.parse import urlsplit


#: Of files that we fetch ourselves.
SCHEMES = ("https", "http", "file")


def without_password(url: str) -> str:
    """Return a URL as it may be shown and recorded."""
    if "@" not in url or "://" not in url:
        return url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
