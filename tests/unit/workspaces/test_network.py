"""Listed endpoints are reached from inside, and nothing else is."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import threading
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces.network import Relay
from pytest_codegenie.workspaces.network import hosts_lines
from pytest_codegenie.workspaces.network import read_endpoints
from pytest_codegenie.workspaces.sandbox import SandboxWorkspace


#: Connects to argv[1:3], sends what it reads, says it is done, writes the answer.
CLIENT = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 20) as connection:
    connection.sendall(sys.stdin.buffer.read())
    connection.shutdown(socket.SHUT_WR)
    while data := connection.recv(65536):
        sys.stdout.buffer.write(data)
"""


@contextlib.contextmanager
def server(answer: Callable[[bytes], bytes], host: str = "127.0.0.1") -> Iterator[int]:
    """Serve connections that send all, then get an answer; yield the port."""
    listener = socket.create_server((host, 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=reply, args=(connection,), daemon=True).start()

    def reply(connection: socket.socket) -> None:
        with connection:
            data = b"".join(iter(lambda: connection.recv(65536), b""))
            connection.sendall(answer(data))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.fixture
def make_sandbox(tmp_path: Path) -> Iterator[Callable[..., SandboxWorkspace]]:
    fault = SandboxWorkspace().probe()
    if fault:
        pytest.skip(f"the sandbox does not work here: {fault}")
    source = tmp_path / "source"
    source.mkdir()
    (source / "client.py").write_text(CLIENT, encoding="utf-8")
    base = make_base(source, tmp_path / "base.git")
    made = []

    def make(*endpoints: str, directory: Path | None = None) -> SandboxWorkspace:
        workspace = SandboxWorkspace()
        made.append(workspace)
        directory = directory or tmp_path / f"workspace-{len(made)}"
        directory.mkdir(parents=True)
        workspace.configure(
            WorkspaceSpec(directory, tmp_path / "cache", endpoints=endpoints)
        )
        workspace.prepare(base, workspace.provide(Recipe(source, "demo")))
        return workspace

    yield make
    for workspace in made:
        workspace.destroy()


def call(
    workspace: SandboxWorkspace,
    host: str,
    port: int,
    *,
    data: bytes = b"",
    phase: str = "agent",
) -> Completed:
    stdin = workspace.spec.directory / "stdin"
    stdin.write_bytes(data)
    return workspace.exec(
        [workspace.environment.python, "client.py", host, str(port)],
        phase=phase,  # type: ignore[arg-type]
        env=workspace.variables("agent"),
        limits=Limits(keep_bytes=1 << 24),
        stdin_path=stdin,
    )


@pytest.mark.parametrize(
    ("listed", "host", "port", "address"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1"),
        ("localhost:80", "localhost", 80, "127.0.0.1"),
        ("[::1]:8080", "::1", 8080, "::1"),
        ("10.1.2.3:443", "10.1.2.3", 443, "10.1.2.3"),
        ("API.example.org:443", "api.example.org", 443, "127.0.1.1"),
    ],
)
def test_an_endpoint_is_a_host_and_a_port(
    listed: str, host: str, port: int, address: str
) -> None:
    (endpoint,) = read_endpoints([listed])
    assert (endpoint.host, endpoint.port, endpoint.address) == (host, port, address)


def test_each_name_has_an_address_of_its_own() -> None:
    endpoints = read_endpoints(["a.org:443", "b.org:443", "a.org:80", "127.0.0.1:1"])
    assert [endpoint.address for endpoint in endpoints] == [
        "127.0.1.1",
        "127.0.1.2",
        "127.0.1.1",
        "127.0.0.1",
    ]
    assert hosts_lines(endpoints) == "127.0.1.1 a.org\n127.0.1.2 b.org\n"


@pytest.mark.parametrize(
    "listed", ["api.example.org", ":80", "host:", "host:0", "host:65536", "host:http"]
)
def test_what_is_no_endpoint_is_named(listed: str) -> None:
    with pytest.raises(WorkspaceUnavailable) as caught:
        read_endpoints([listed])
    assert repr(listed) in caught.value.reason
    assert "host:port" in caught.value.reason


def test_a_listed_endpoint_is_reached(
    make_sandbox: Callable[..., SandboxWorkspace],
) -> None:
    with server(bytes.upper) as port:
        workspace = make_sandbox(f"127.0.0.1:{port}")
        assert call(workspace, "127.0.0.1", port, data=b"hello").stdout == b"HELLO"


def test_a_name_and_a_low_port_are_the_outside_s(
    make_sandbox: Callable[..., SandboxWorkspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(bytes.upper) as port:
        connect = socket.create_connection

        def resolve(address: tuple[str, int], timeout: float) -> socket.socket:
            # What DNS would do for a name that exists.
            assert address == ("models.example.org", 443)
            return connect(("127.0.0.1", port), timeout)

        monkeypatch.setattr(socket, "create_connection", resolve)
        workspace = make_sandbox("models.example.org:443")
        done = call(workspace, "models.example.org", 443, data=b"hello")
    assert (done.stdout, done.stderr) == (b"HELLO", b"")


def test_nothing_else_is_reached(
    make_sandbox: Callable[..., SandboxWorkspace],
) -> None:
    with server(bytes.upper) as listed, server(bytes.upper) as other:
        workspace = make_sandbox(f"127.0.0.1:{listed}")
        done = call(workspace, "127.0.0.1", other, data=b"hello")
        assert done.exit_code == 1
        assert b"ConnectionRefusedError" in done.stderr


def test_judged_code_reaches_nothing(
    make_sandbox: Callable[..., SandboxWorkspace],
) -> None:
    with server(bytes.upper) as port:
        workspace = make_sandbox(f"127.0.0.1:{port}")
        done = call(workspace, "127.0.0.1", port, phase="judge")
        assert done.exit_code == 1
        assert b"ConnectionRefusedError" in done.stderr


def test_megabytes_go_both_ways(
    make_sandbox: Callable[..., SandboxWorkspace],
) -> None:
    data = os.urandom(1 << 20) * 8
    with server(lambda sent: sent) as port:
        workspace = make_sandbox(f"127.0.0.1:{port}")
        done = call(workspace, "127.0.0.1", port, data=data)
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()


def test_an_endpoint_that_is_down_ends_the_connection(
    make_sandbox: Callable[..., SandboxWorkspace],
) -> None:
    with server(bytes.upper) as port:
        pass
    workspace = make_sandbox(f"127.0.0.1:{port}")
    done = call(workspace, "127.0.0.1", port)
    assert (done.stdout, done.timed_out) == (b"", False)


def test_a_long_path_is_no_obstacle(
    make_sandbox: Callable[..., SandboxWorkspace], tmp_path: Path
) -> None:
    directory = tmp_path / ("long" * 30)
    with server(bytes.upper) as port:
        workspace = make_sandbox(f"127.0.0.1:{port}", directory=directory)
        assert call(workspace, "127.0.0.1", port, data=b"hello").stdout == b"HELLO"


def test_what_runs_inside_has_no_rights_over_its_network(
    make_sandbox: Callable[..., SandboxWorkspace],
) -> None:
    workspace = make_sandbox("127.0.0.1:8080")
    done = workspace.exec(
        ["/bin/sh", "-c", "grep -E 'Cap(Eff|Prm|Amb)' /proc/self/status"],
        phase="agent",
        env=workspace.variables("agent"),
        limits=Limits(),
    )
    assert [line.split()[1] for line in done.stdout.splitlines()] == [b"0" * 16] * 3


def test_a_closed_relay_cuts_what_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    held = threading.Event()

    def hold(_: bytes) -> bytes:
        held.wait()
        return b"too late"

    with server(hold) as port:
        relay = Relay(read_endpoints([f"127.0.0.1:{port}"]), sockets)
        with socket.socket(socket.AF_UNIX) as client:
            monkeypatch.chdir(sockets)  # a socket's path has to be short
            client.connect("0")
            client.sendall(b"hello")
            relay.close()
            assert client.recv(1) == b""
        held.set()
