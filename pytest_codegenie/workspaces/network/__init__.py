"""The few places of the network that an isolated agent may reach.

Programs inside have a network of their own with nothing on it. For each listed
``host:port`` a relay of ours listens on a Unix socket, and ``forward.py``, in that
network, listens on a loopback address that the host's name stands for there. So TLS
still ends where it should, and nothing else of the outside exists.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.logs import emit


#: The program that runs in the network of its own and starts the agent.
FORWARD_SCRIPT = Path(__file__).with_name("forward.py")

_CONNECT_SECONDS = 30.0
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One ``host:port`` of the outside, and where it is found inside."""

    host: str
    port: int
    #: A loopback address, or the host's own where it is given as an address.
    address: str

    @property
    def name(self) -> str | None:
        """The name that ``/etc/hosts`` has to know inside; None for an address."""
        return self.host if self.host != self.address else None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def read_endpoints(listed: Sequence[str]) -> tuple[Endpoint, ...]:
    """Return the endpoints that are listed as ``host:port``.

    Each name gets a loopback address of its own (127.0.1.1, 127.0.1.2, ...).

    Raises:
        WorkspaceUnavailable: One is no ``host:port``.
    """
    endpoints: list[Endpoint] = []
    addresses: dict[str, str] = {"localhost": "127.0.0.1"}
    for text in dict.fromkeys(listed):
        host, _, port = text.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise WorkspaceUnavailable(
                f"the agent asks for the network endpoint {text!r}; it must be "
                "host:port, such as api.example.org:443"
            )
        host = host.strip("[]").lower()
        try:
            address = str(ipaddress.ip_address(host))
        except ValueError:
            address = addresses.setdefault(host, f"127.0.1.{len(addresses)}")
        endpoints.append(Endpoint(host, int(port), address))
    return tuple(endpoints)


def hosts_lines(endpoints: Sequence[Endpoint]) -> str:
    """Return what ``/etc/hosts`` says of the endpoints inside."""
    names = {e.name: e.address for e in endpoints if e.name not in (None, "localhost")}
    return "".join(f"{address} {name}\n" for name, address in names.items())


def forward_arguments(endpoints: Sequence[Endpoint], sockets: str) -> list[str]:
    """Return the arguments of ``forward.py`` that come before the program's own.

    Args:
        endpoints: What may be reached.
        sockets: The relay's directory, as the script finds it.
    """
    places = [[endpoint.address, endpoint.port] for endpoint in endpoints]
    return [sockets, json.dumps(places), "--"]


class Relay:
    """Listens on one Unix socket for each endpoint and connects to it, while open."""

    def __init__(self, endpoints: Sequence[Endpoint], directory: Path) -> None:
        """Begin to listen.

        Args:
            endpoints: What may be reached.
            directory: An empty directory; gets the sockets, named 0, 1, ...

        Raises:
            WorkspaceUnavailable: A socket cannot be made.
        """
        self._closed = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        try:
            for number, endpoint in enumerate(endpoints):
                listener = _listen(directory, str(number))
                self._keep(listener)
                _start(self._accept, listener, endpoint)
        except OSError as exc:
            self.close()
            raise WorkspaceUnavailable(
                f"no relay for {endpoint} can be made in {directory}: {exc}"
            ) from exc

    def __enter__(self) -> Self:
        """Return itself; it listens already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Stop to listen and cut every connection."""
        self._closed.set()
        with self._lock:
            for each in self._open:
                # Wakes the threads that wait for it; they close it.
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket, endpoint: Endpoint) -> None:
        with listener:
            while not self._closed.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    break
                _start(self._connect, connection, endpoint)
        self._forget(listener)

    def _connect(self, inside: socket.socket, endpoint: Endpoint) -> None:
        with inside:
            try:
                outside = socket.create_connection(
                    (endpoint.host, endpoint.port), _CONNECT_SECONDS
                )
            except OSError as exc:
                emit(
                    "workspace.endpoint_unreachable",
                    level="warning",
                    endpoint=str(endpoint),
                    reason=str(exc),
                )
                return
            outside.settimeout(None)
            with outside:
                self._keep(inside, outside)
                answers = _start(_pump, outside, inside)
                _pump(inside, outside)
                answers.join()
                self._forget(inside, outside)

    def _keep(self, *sockets: socket.socket) -> None:
        with self._lock:
            self._open.update(sockets)
        if self._closed.is_set():
            self.close()

    def _forget(self, *sockets: socket.socket) -> None:
        with self._lock:
            self._open.difference_update(sockets)


def _listen(directory: Path, name: str) -> socket.socket:
    """Return a listening socket; its path may be longer than such a path can be."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{place}/{name}")
        # Whoever is inside may connect, whatever user that is.
        (directory / name).chmod(0o666)
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(place)
    return listener


def _start(work: object, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Carry bytes until the source ends; tell the target so."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
