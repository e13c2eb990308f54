"""Running other programs: limits on time and output, and nothing survives.

``run`` hands the work to a supervisor process (``supervisor.py``), which stays warm
between calls.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from pytest_codegenie.processes.companion import Companion as Companion
from pytest_codegenie.processes.companion import CompanionDied as CompanionDied
from pytest_codegenie.processes.companion import CompanionPool as CompanionPool


_SCRIPT = Path(__file__).with_name("supervisor.py")
#: What no program's output may hold, wherever it goes.
_secrets: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar(
    "secrets", default=()
)


class NotStarted(Exception):
    """The program could not be started; ``reason`` says why, by the system's word."""

    def __init__(self, program: str, reason: str, code: str) -> None:
        super().__init__(program, reason, code)
        self.program = program
        self.reason = reason
        #: The errno's name, such as ``ENOENT``.
        self.code = code

    def __str__(self) -> str:
        return f"{self.program!r} cannot be started: {self.reason}"


@dataclass(frozen=True, slots=True)
class DiskLimit:
    """What may lie in a directory while a program runs; over that, it is ended.

    It is measured again and again, so a program may get somewhat further.
    """

    directory: Path
    max_bytes: int
    max_files: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use."""

    #: Wall time until SIGTERM.
    timeout_seconds: float = 600.0
    #: Time between SIGTERM and SIGKILL.
    grace_seconds: float = 3.0
    #: Of each stream this much is kept from the start and from the end.
    keep_bytes: int = 1 << 18
    #: What a log file may grow to, for each stream.
    log_bytes: int = 10 << 20
    #: ``RLIMIT_*`` name to value, for each process of the program.
    rlimits: Mapping[str, int] = field(default_factory=dict)
    #: Files of cgroups (``cgroup.procs``) that it joins before it starts.
    join: tuple[Path, ...] = ()
    #: What it writes to; None: nobody measures.
    disk: DiskLimit | None = None
    #: Once there is such a file, the program is ended as at the end of its time.
    stop: Path | None = None
    #: SIGTERM is meant for what the program starts, not for itself: it ignores it, and
    #: so does what it starts, unless that resets it (``env --default-signal``).
    shielded: bool = False


@dataclass(frozen=True, slots=True)
class Completed:
    """How a program ended."""

    #: As in ``subprocess``: negative for a signal.
    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    duration_seconds: float
    #: Processes that it had left running and that were killed.
    survivors: int
    #: The limit that it was ended for, in words, other than time; "" for none.
    exceeded: str = ""
    #: It was ended by ``Limits.stop``.
    stopped: bool = False


@contextlib.contextmanager
def redacting(secrets: Sequence[str]) -> Iterator[None]:
    """Keep secrets out of what programs print that are run in the block."""
    token = _secrets.set(tuple(secrets))
    try:
        yield
    finally:
        _secrets.reset(token)


def secret_words() -> list[bytes]:
    """Return what is to be kept out of the output of programs that are run now."""
    return [secret.encode() for secret in _secrets.get()]


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin_path: Path | None = None,
    log_path: Path | None = None,
    limits: Limits | None = None,
    inherited: Mapping[int, Path] | None = None,
) -> Completed:
    """Run a program to its end and see to it that nothing it started lives on.

    Args:
        argv: The program, looked up on ``env``'s PATH, and its arguments.
        cwd: Its working directory.
        env: Its whole environment.
        stdin_path: What it reads; None: nothing.
        log_path: Gets its output while it runs, up to ``limits.log_bytes``.
        limits: None: the defaults.
        inherited: File descriptor, above 2, to a new file that it can write to by it.

    Raises:
        NotStarted: There is no such program, or it may not be executed.
        CompanionDied: The supervisor died, as when somebody killed it.
    """
    limits = limits or Limits()
    request = {
        "argv": list(argv),
        "cwd": os.fspath(cwd),
        "env": dict(env),
        "stdin_path": os.fspath(stdin_path) if stdin_path else "",
        "log": os.fspath(log_path) if log_path else "",
        "log_limit": limits.log_bytes,
        "timeout": limits.timeout_seconds,
        "grace": limits.grace_seconds,
        "keep": limits.keep_bytes,
        "limits": dict(limits.rlimits),
        "join": [os.fspath(path) for path in limits.join],
        "disk": _disk_request(limits.disk),
        "stop": os.fspath(limits.stop) if limits.stop else "",
        "shielded": limits.shielded,
        "secrets": list(_secrets.get()),
        "inherited": [[fd, os.fspath(path)] for fd, path in (inherited or {}).items()],
    }
    with _pool.borrowed() as supervisor:
        answer, (stdout, stderr) = supervisor.ask(request)
    if "not_started" in answer:
        raise NotStarted(answer["place"], answer["not_started"], answer["errno"])
    return Completed(
        answer["exit_code"],
        stdout,
        stderr,
        answer["timed_out"],
        answer["duration"],
        answer["survivors"],
        answer["exceeded"],
        answer["stopped"],
    )


def _disk_request(disk: DiskLimit | None) -> list[str | int] | None:
    if disk is None:
        return None
    return [os.fspath(disk.directory), disk.max_bytes, disk.max_files]


def _start_supervisor(_key: str) -> Companion:
    argv = [sys.executable, "-I", "-S", str(_SCRIPT)]
    return Companion(argv, env={"PATH": os.defpath})


_pool = CompanionPool(_start_supervisor)
