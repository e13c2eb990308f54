"""Which hosts may be contacted."""

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from linkcard.errors import BlockedURL

_INTERNAL = tuple(
    ip_network(text)
    for text in ("10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
)


@dataclass(frozen=True)
class Policy:
    """The hosts that may be contacted: public ones, and those that are trusted.

    Attributes:
        trusted_hosts: Names, in lower case, that may have any address.
    """

    trusted_hosts: Collection[str] = frozenset()

    def check(self, host: str) -> None:
        """Raise BlockedURL where a host may not be contacted."""
        if host in self.trusted_hosts:
            return
        if host == "localhost" or host.endswith((".localhost", ".internal")):
            raise BlockedURL(f"{host} is not a public host")
        try:
            address = ip_address(host)
        except ValueError:
            return
        if any(address in network for network in _INTERNAL):
            raise BlockedURL(f"{host} is not a public address")
