"""Where a visitor may be sent; ``docs/redirects.md`` says why."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_HTTPS_PORT = 443
_ALLOWED_CHARACTERS = re.compile(r"[!-\[\]-~]+")
_HOST_ENTRY = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+")


class RedirectPolicy:
    """Decides about ``next``.

    Args:
        hosts: Hosts that may be redirected to, ``*.`` for all their sub-domains.
        default: A path on our own host, for everything that may not.

    Raises:
        ValueError: An entry is not a host, or the default is not a path.
    """

    def __init__(self, hosts: Iterable[str], *, default: str = "/") -> None:
        entries = [host.lower() for host in hosts]
        for entry in entries:
            if not _HOST_ENTRY.fullmatch(entry):
                raise ValueError(f"{entry!r} is not a host")
        self._hosts = frozenset(e for e in entries if not e.startswith("*."))
        self._suffixes = tuple(e[1:] for e in entries if e.startswith("*."))
        if not _is_own_path(default):
            raise ValueError(f"{default!r} is not a path on our own host")
        self.default = default

    def target(self, wanted: str | None) -> str:
        """Return ``wanted`` if a visitor may be sent there, else the default."""
        if wanted and (_is_own_path(wanted) or self._is_listed(wanted)):
            return wanted
        return self.default

    def _is_listed(self, url: str) -> bool:
        if not url.lower().startswith("https://"):
            return False
        if not _ALLOWED_CHARACTERS.fullmatch(url):
            return False
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            return False
        if not host or "@" in parts.netloc or port not in (None, _HTTPS_PORT):
            return False
        return host in self._hosts or host.endswith(self._suffixes)


def _is_own_path(url: str) -> bool:
    return (
        _ALLOWED_CHARACTERS.fullmatch(url) is not None
        and url.startswith("/")
        and not url.startswith("//")
    )
