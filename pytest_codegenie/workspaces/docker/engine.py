"""The engine that runs containers: Docker, Podman, what else speaks Docker's API."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import threading
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Any

from pytest_codegenie.errors import WorkspaceUnavailable


if TYPE_CHECKING:
    from docker import APIClient
    from docker import DockerClient


#: Whose errors are the engine's: docker-py, what it speaks with, what it sends.
_LIBRARIES = ("docker", "paramiko", "requests", "tarfile", "urllib3")
#: Of a single request; what runs or builds is waited for as long as it may take.
_REQUEST_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Engine:
    """A connection to an engine, and what we have to know of it."""

    client: DockerClient
    #: Such as ``Docker 28.1``.
    name: str
    is_podman: bool
    #: It runs as a user who is not root, in a user namespace.
    is_rootless: bool

    @property
    def api(self) -> APIClient:
        """The calls of the API, one by one."""
        return self.client.api


@functools.cache
def connect() -> Engine:
    """Return the engine of this machine; the connection is kept.

    ``DOCKER_HOST`` says which; without it, the usual sockets are tried.

    Raises:
        WorkspaceUnavailable: There is none that answers.
    """
    try:
        from docker import from_env
    except ImportError as exc:
        raise WorkspaceUnavailable(
            "docker-py is missing: pip install 'pytest-codegenie[docker]'"
        ) from exc
    faults = []
    for address in _addresses():
        try:
            with engine_errors(f"no engine answers at {address}"):
                return _connect(from_env, address)
        except WorkspaceUnavailable as exc:
            faults.append(str(exc))
    remedy = (
        "start one (systemctl start docker, or systemctl --user start podman.socket) "
        "or set DOCKER_HOST"
    )
    found = "; ".join(faults) or "there is no socket of Docker or Podman"
    raise WorkspaceUnavailable(f"{found}; {remedy}")


def _addresses() -> Iterator[str]:
    chosen = os.environ.get("DOCKER_HOST")
    if chosen:
        yield chosen
        return
    own = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    for path in (
        "/var/run/docker.sock",
        f"{own}/docker.sock",
        "/run/podman/podman.sock",
        f"{own}/podman/podman.sock",
    ):
        if os.path.exists(path):  # noqa: PTH110 -- False too where we may not look
            yield f"unix://{path}"


def _connect(from_env: Callable[..., DockerClient], address: str) -> Engine:
    if address.startswith("unix://"):
        # docker-py leaves a socket open that it cannot connect.
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(address.removeprefix("unix://"))
    client = from_env(
        environment={**os.environ, "DOCKER_HOST": address}, timeout=_REQUEST_SECONDS
    )
    version = client.version()
    parts = {part["Name"] for part in version.get("Components") or ()}
    is_podman = "Podman Engine" in parts
    kind = "Podman" if is_podman else "Docker"
    security = client.info().get("SecurityOptions") or ()
    return Engine(
        client=client,
        name=f"{kind} {version['Version']}",
        is_podman=is_podman,
        is_rootless=any("rootless" in option for option in security),
    )


def within(seconds: float, work: Callable[[], object]) -> None:
    """Do what docker-py sets no bound to, and wait no longer than that.

    What does not end goes on unseen, until the engine or this process ends.

    Raises:
        TimeoutError: It did not end in that time.
    """
    faults: list[Exception] = []
    done = threading.Event()

    def run() -> None:
        try:
            work()
        except Exception as exc:
            faults.append(exc)
        done.set()

    threading.Thread(target=run, daemon=True).start()
    if not done.wait(seconds):
        raise TimeoutError(f"it did not end within {seconds:g} seconds")
    for fault in faults:
        raise fault


@contextlib.contextmanager
def engine_errors(
    failed: str, kind: type[WorkspaceUnavailable] = WorkspaceUnavailable
) -> Iterator[None]:
    """Turn what docker-py raises in the block into an error of ours.

    Args:
        failed: What could not be done.
        kind: Of the error.

    Raises:
        WorkspaceUnavailable: The block failed.
    """
    try:
        yield
    except Exception as exc:
        if not _is_of_engine(exc):
            raise
        raise kind(f"{failed}: {_words(exc)}") from exc


def _is_of_engine(error: Exception) -> bool:
    """Say whether the engine, or the system, is to blame for an error.

    Libraries are asked for by name, as they may not even be installed.
    """
    package = type(error).__module__.partition(".")[0]
    return package in _LIBRARIES or isinstance(error, OSError)


def _words(error: BaseException) -> str:
    """Return what went wrong in a line, and the remedy where we know one."""
    cause: BaseException | None = error
    while cause is not None:
        system = _system_error(cause)
        if isinstance(system, PermissionError):
            return (
                "permission denied; join its group (usermod -aG docker $USER, then log "
                "in again) or run it rootless"
            )
        if isinstance(system, (FileNotFoundError, ConnectionRefusedError)):
            return f"it does not run ({system.strerror})"
        cause = cause.__cause__ or cause.__context__
    explanation: Any = getattr(error, "explanation", None)
    return str(explanation or error).strip()


def _system_error(error: BaseException) -> BaseException:
    """Return what requests and urllib3 have wrapped as their error's argument."""
    while error.args and isinstance(error.args[-1], BaseException):
        error = error.args[-1]
    return error
