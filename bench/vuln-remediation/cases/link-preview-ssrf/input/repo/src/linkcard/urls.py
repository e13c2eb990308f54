"""URLs, taken apart as far as a request needs it."""

from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from linkcard.errors import InvalidURL

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Target:
    """Where a URL leads.

    Attributes:
        scheme: ``http`` or ``https``.
        host: Name or literal address, in lower case, IPv6 without brackets.
        port: The port, also where the URL leaves it out.
        path: Path and query, as they are sent.
        url: The URL itself.
    """

    scheme: str
    host: str
    port: int
    path: str
    url: str


def parse_url(url: str) -> Target:
    """Take a URL apart.

    Raises:
        InvalidURL: It is not an absolute URL of http or https.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        raise InvalidURL(f"{url!r}: {exc}") from exc
    if parts.scheme not in DEFAULT_PORTS:
        raise InvalidURL(f"{url!r} is not a link to a web page")
    if not host:
        raise InvalidURL(f"{url!r} has no host")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    if parts.query:
        path += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=?~")
    return Target(
        scheme=parts.scheme,
        host=host,
        port=DEFAULT_PORTS[parts.scheme] if port is None else port,
        path=path,
        url=parts.geturl(),
    )


def join(target: Target, reference: str) -> str:
    """Return the URL that a reference in the answer of a target means."""
    return urljoin(target.url, reference.strip())
