"""The two things that need a network, and their defaults.

Tests and unusual deployments pass their own to ``Fetcher``.
"""

import http.client
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message

MAX_BODY = 512 * 1024


@dataclass(frozen=True)
class Request:
    """One request, without the address that it goes to."""

    method: str
    scheme: str
    host: str
    port: int
    path: str


@dataclass(frozen=True)
class Response:
    """The answer to one request.

    Attributes:
        status: The HTTP status.
        headers: The header fields, by lower-case name.
        body: The beginning of the body.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


Resolver = Callable[[str, int], list[str]]
"""Returns the addresses of a host as text, the best one first; raises OSError if
there are none. As with getaddrinfo, everything that the system understands as a
host is accepted, literal addresses in any notation included."""

Transport = Callable[[str, Request], Response]
"""Sends a request to an address; raises OSError if that does not answer. Follows no
redirects."""


def resolve(host: str, port: int) -> list[str]:
    """The default resolver: ask the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def send(address: str, request: Request, *, timeout: float = 5.0) -> Response:
    """The default transport: connect to the address, and to nothing else."""
    connection = http.client.HTTPConnection(request.host, request.port)
    connection.sock = socket.create_connection((address, request.port), timeout)
    try:
        if request.scheme == "https":
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(
                connection.sock, server_hostname=request.host
            )
        headers = {"User-Agent": "linkcard/0.9", "Accept": "text/html, image/*"}
        connection.request(request.method, request.path, headers=headers)
        response = connection.getresponse()
        body = response.read(MAX_BODY)
        return Response(response.status, _lower(response.headers), body)
    except http.client.HTTPException as exc:
        raise OSError(f"{address} does not speak HTTP: {exc!r}") from exc
    finally:
        connection.close()


def _lower(message: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in message.items()}
