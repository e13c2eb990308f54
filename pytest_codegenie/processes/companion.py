"""Companions: helper processes of ours that stay warm between calls.

A companion runs one of our scripts and answers requests over a socket, one at a time:
a JSON line there, a JSON line back, then as many raw blocks as the answer's ``sizes``
says. It ends when the socket closes, so it never outlives the harness.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import BinaryIO

from pytest_codegenie.processes.cgroups import Cgroup


class CompanionDied(Exception):
    """The companion ended, or was silent for too long, while it owed an answer."""


class Companion:
    """One helper process.

    Args:
        argv: The script's command line; the number of its socket is appended.
        env: Its whole environment.
        group: Limits it and all that it starts; it ends with the companion.

    Raises:
        OSError: It cannot be started, or cannot join the group.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        group: Cgroup | None = None,
    ) -> None:
        self._group = group
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*argv, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # Ctrl-C is for the session: it ends programs in its own order.
                start_new_session=True,
                env=dict(env),
            )
        self._socket = ours
        self._reader: BinaryIO = ours.makefile("rb")
        try:
            # It starts nothing before it is asked for something.
            for path in group.join_files if group else ():
                path.write_text(str(self._process.pid), encoding="ascii")
        except OSError:
            self.close()
            raise

    def ask(
        self, request: Mapping[str, Any], *, timeout_seconds: float | None = None
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a request and wait for the answer: (answer, its blocks).

        Raises:
            CompanionDied: There is no answer, or not in time.
        """
        self._socket.settimeout(timeout_seconds)
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._reader.readline()
            if not line:
                raise CompanionDied("a helper process died; was it killed?")
            answer: dict[str, Any] = json.loads(line)
            blocks = [self._reader.read(size) for size in answer.pop("sizes", (0, 0))]
        except OSError as exc:
            raise CompanionDied(f"a helper process does not answer: {exc}") from exc
        return answer, blocks

    def close(self) -> None:
        """End the companion, and with it whatever it still runs."""
        self._reader.close()
        self._socket.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._group is not None:
            self._group.close()


class CompanionPool:
    """Idle companions by key; there are as many as were ever busy at once."""

    def __init__(self, start: Callable[[str], Companion]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._idle: dict[str, list[Companion]] = {}
        self._pid = os.getpid()
        atexit.register(self.close)

    @contextlib.contextmanager
    def borrowed(self, key: str = "") -> Iterator[Companion]:
        """Lend a companion for the block, a new one where none is idle."""
        companion = self._take(key) or self._start(key)
        try:
            yield companion
        except BaseException:
            # It died, or we were interrupted while it works (a time-out from outside,
            # Ctrl-C): end it now, and with it what it runs.
            companion.close()
            raise
        with self._lock:
            self._idle.setdefault(key, []).append(companion)

    def close(self) -> None:
        """End all idle companions."""
        with self._lock:
            idle, self._idle = self._idle, {}
        if self._pid == os.getpid():
            for companions in idle.values():
                for companion in companions:
                    companion.close()

    def _take(self, key: str) -> Companion | None:
        with self._lock:
            if self._pid != os.getpid():
                # A fork of ours: the companions belong to the parent.
                self._idle, self._pid = {}, os.getpid()
            companions = self._idle.get(key)
            return companions.pop() if companions else None
