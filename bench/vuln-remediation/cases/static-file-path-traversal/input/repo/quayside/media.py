"""Content types of what a documentation site is made of.

The tables of the operating system differ from machine to machine, so the types
that matter are listed here.
"""

from pathlib import Path

_TEXT = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/plain",
    ".rst": "text/plain",
    ".svg": "image/svg+xml",
    ".toml": "text/plain",
    ".txt": "text/plain",
    ".xml": "application/xml",
}
_BINARY = {
    ".gif": "image/gif",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}
FALLBACK = "application/octet-stream"


def content_type(path: Path) -> str:
    """The value of the Content-Type header for a file."""
    suffix = path.suffix.lower()
    if suffix in _TEXT:
        return f"{_TEXT[suffix]}; charset=utf-8"
    return _BINARY.get(suffix, FALLBACK)
