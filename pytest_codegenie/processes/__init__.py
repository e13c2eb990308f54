"""Running other programs: limits on time and output, and nothing survives.

``run`` hands the work to a supervisor process (``supervisor.py``), of which there is
one for each thread that runs programs, kept warm between calls.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import BinaryIO


_SCRIPT = Path(__file__).with_name("supervisor.py")


class NotStarted(Exception):  # noqa: N818 -- it is an outcome, like TimeoutExpired
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


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin_path: Path | None = None,
    log_path: Path | None = None,
    limits: Limits | None = None,
) -> Completed:
    """Run a program to its end and see to it that nothing it started lives on.

    Args:
        argv: The program, looked up on ``env``'s PATH, and its arguments.
        cwd: Its working directory.
        env: Its whole environment.
        stdin_path: What it reads; None: nothing.
        log_path: Gets its output while it runs, up to ``limits.log_bytes``.
        limits: None: the defaults.

    Raises:
        NotStarted: There is no such program, or it may not be executed.
        RuntimeError: The supervisor died, as when somebody killed it.
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
    }
    with _pool.borrowed() as supervisor:
        answer, stdout, stderr = supervisor.ask(request)
    if "not_started" in answer:
        raise NotStarted(answer["place"], answer["not_started"], answer["errno"])
    return Completed(
        answer["exit_code"],
        stdout,
        stderr,
        answer["timed_out"],
        answer["duration"],
        answer["survivors"],
    )


class _Supervisor:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SCRIPT), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # Ctrl-C is for the session: it ends programs in its own order.
                start_new_session=True,
                env={"PATH": os.defpath},
            )
        self._socket = ours
        self._reader: BinaryIO = ours.makefile("rb")

    def ask(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes, bytes]:
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        line = self._reader.readline()
        if not line:
            raise RuntimeError("the process supervisor died; was it killed?")
        answer: dict[str, Any] = json.loads(line)
        stdout_size, stderr_size = answer.get("sizes", (0, 0))
        return answer, self._reader.read(stdout_size), self._reader.read(stderr_size)

    def close(self) -> None:
        """End the supervisor, and with it whatever it still runs."""
        self._reader.close()
        self._socket.close()
        self._process.wait()


class _Pool:
    """Idle supervisors; there are as many as programs ever ran at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Supervisor] = []
        self._pid = os.getpid()

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[_Supervisor]:
        supervisor = self._take()
        try:
            yield supervisor
        except BaseException:
            # Interrupted while a program runs (a time-out from outside, Ctrl-C):
            # end that program now, and with it the supervisor.
            supervisor.close()
            raise
        with self._lock:
            self._idle.append(supervisor)

    def _take(self) -> _Supervisor:
        with self._lock:
            if self._pid != os.getpid():
                # A fork of ours: the supervisors belong to the parent.
                self._idle, self._pid = [], os.getpid()
            if self._idle:
                return self._idle.pop()
        return _Supervisor()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        if self._pid == os.getpid():
            for supervisor in idle:
                supervisor.close()


_pool = _Pool()
atexit.register(_pool.close)
