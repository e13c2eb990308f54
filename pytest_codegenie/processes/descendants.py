"""What a process starts, prints and writes: found and ended, kept, measured.

Standard library only, and few modules of it: the supervisor imports this in a bare
interpreter.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time


PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
#: Of the system call keyctl(2), by machine; the C library has no function for it.
KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
KEYCTL_JOIN_SESSION_KEYRING = 1

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Make orphans below this process its own children (Linux)."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Have this process killed when its parent ends, as when it kills its parent."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def leave_keyring() -> None:
    """Give this process, and what it starts, a new and empty session keyring.

    No namespace hides the keys of the one that it was started with.
    """
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        _libc.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def children() -> list[int]:
    """Return the process ids of this process's children."""
    try:
        with open("/proc/thread-self/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:
        # A kernel without CONFIG_PROC_CHILDREN.
        own = os.getpid()
        return [
            int(pid)
            for pid in os.listdir("/proc")
            if pid.isdigit() and own == _ppid(pid)
        ]


def _ppid(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def kill_descendants() -> int:
    """Kill and reap every process below this one; return how many there were.

    Killing a parent hands its children to this process, so the rounds end when no
    child is left. A stopped process is killed too: SIGKILL needs no consent.
    """
    killed: set[int] = set()
    while True:
        alive = children()
        if not alive:
            return len(killed)
        for pid in alive:
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for pid in alive:
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                pass


class Redaction:
    """Takes secrets out of a stream, also where one comes in two pieces."""

    MARK = b"[redacted]"

    def __init__(self, secrets: list[bytes]) -> None:
        #: Longest first: one may be a part of another.
        self.secrets = sorted(secrets, key=len, reverse=True)
        self.held = b""

    def clean(self, data: bytes, last: bool = False) -> bytes:
        """Return the next bytes; what may be the start of a secret is held back."""
        data = self.held + data
        for secret in self.secrets:
            if secret in data:
                data = data.replace(secret, self.MARK)
        held = 0 if last else self._may_start(data)
        self.held = data[len(data) - held :]
        return data[: len(data) - held]

    def _may_start(self, data: bytes) -> int:
        """Return the length of the end of ``data`` that a secret may begin with."""
        longest = 0
        for secret in self.secrets:
            for length in range(min(len(secret) - 1, len(data)), longest, -1):
                if data.endswith(secret[:length]):
                    longest = length
                    break
        return longest


class Output:
    """The beginning and the end of a stream; the middle is only counted.

    ``log`` is a file descriptor that gets the stream too, up to ``log_limit`` bytes.
    Neither holds one of ``secrets``.
    """

    def __init__(
        self,
        keep: int,
        log: int | None = None,
        log_limit: int = 0,
        secrets: list[bytes] | None = None,
    ) -> None:
        self.redaction = Redaction(secrets) if secrets else None
        self.keep = keep
        self.total = 0
        self.head = bytearray()
        self.tail = bytearray()
        self.log = log
        self.log_left = log_limit

    def feed(self, data: bytes, last: bool = False) -> None:
        """Take the next bytes."""
        if self.redaction is not None:
            data = self.redaction.clean(data, last)
        self.total += len(data)
        if self.log is not None and self.log_left > 0:
            part = data[: self.log_left]
            self.log_left -= len(part)
            try:
                os.write(self.log, part)
            except OSError:
                self.log_left = 0
        room = self.keep - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail += data
            if len(self.tail) > 2 * self.keep:
                del self.tail[: -self.keep]

    def close(self) -> None:
        """Take it that no more will come."""
        if self.redaction is not None:
            self.feed(b"", last=True)

    def kept(self) -> bytes:
        """Return both ends, with a line between them that says what is left out."""
        tail = self.tail[-self.keep :]
        lost = self.total - len(self.head) - len(tail)
        if not lost:
            return bytes(self.head + tail)
        gap = b"\n[... %d bytes left out ...]\n" % lost
        return bytes(self.head) + gap + bytes(tail)


class DiskWatch:
    """Measures what lies in a directory, at most a twentieth of the time."""

    def __init__(self, directory: str, max_bytes: int, max_files: int) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self.max_files = max_files
        #: When to look next, by the monotonic clock.
        self.due = time.monotonic() + 0.25

    def look(self) -> str:
        """Return which limit is exceeded, in words; "" for none."""
        started = time.monotonic()
        exceeded = self._measure()
        ended = time.monotonic()
        self.due = ended + max(0.25, 20 * (ended - started))
        return exceeded

    def _measure(self) -> str:
        size = files = 0
        pending = [self.directory]
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        files += 1
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        else:
                            size += entry.stat(follow_symlinks=False).st_blocks * 512
                        if size > self.max_bytes:
                            return f"more than {self.max_bytes} bytes on disk"
                        if files > self.max_files:
                            return f"more than {self.max_files} files"
            except OSError:
                pass  # it is gone, or shut: what is in it counts another time
        return ""
