"""The program that starts and ends other programs for us, one at a time.

Run as ``python -I -S supervisor.py FD``; FD is a Unix socket. It is its own process
so that *everything* a program leaves behind can be found: as a child subreaper it
inherits every orphan below it, whatever process group or session that moved to. And
when the harness dies, by ``kill -9`` too, the socket closes and the program that runs
dies with it.

A request is one JSON line, ``processes/__init__.py`` writes it; the answer is a JSON
line, then the kept bytes of stdout and of stderr. Standard library only, and few
modules of it: this starts in a bare interpreter.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import signal
import socket
import sys
import time


sys.path.insert(0, os.path.dirname(__file__))

from descendants import DiskWatch
from descendants import Output
from descendants import become_subreaper
from descendants import die_with_parent
from descendants import kill_descendants
from descendants import leave_keyring


TYPE_CHECKING = False  # not typing's own: this interpreter should be up quickly
if TYPE_CHECKING:
    from typing import Any

_READ_BYTES = 1 << 16
#: How often it looks whether it is told to end the program.
_LOOK_SECONDS = 0.25


def _start(request: dict[str, Any]) -> tuple[int, dict[int, Output], int]:
    """Fork and exec; return (pid, read end to its Output, write end of stdin or -1)."""
    streams: dict[int, Output] = {}
    log = None
    stdin_read = _open(request["stdin_path"] or os.devnull, os.O_RDONLY)
    if request["log"]:
        try:
            log = _open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        except StartError:
            os.close(stdin_read)
            raise
    stdout_read, stdout_write = os.pipe()
    stderr_read, stderr_write = os.pipe()
    error_read, error_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        place = request["cwd"]
        try:
            os.setsid()
            die_with_parent()
            os.dup2(stdin_read, 0)
            os.dup2(stdout_write, 1)
            os.dup2(stderr_write, 2)
            os.chdir(request["cwd"])
            for path in request["join"]:
                with open(path, "w", encoding="ascii") as file:
                    file.write("0")
            for name, limit in request["limits"].items():
                number = getattr(resource, name)
                hard = resource.getrlimit(number)[1]
                if hard != resource.RLIM_INFINITY:
                    limit = min(limit, hard)
                resource.setrlimit(number, (limit, limit))
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            if request["shielded"]:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            for fd, path in request["inherited"]:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                os.dup2(_open(path, flags), fd)
            place = request["argv"][0]
            # What is open above stderr closes at exec (PEP 446).
            os.execvpe(request["argv"][0], request["argv"], request["env"])
        except BaseException as exc:
            number = getattr(exc, "errno", None) or 0
            message = getattr(exc, "strerror", None) or str(exc)
            words = json.dumps([number, message, place[:1000]])
            os.write(error_write, words.encode())
        finally:
            os._exit(127)
    for fd in (stdin_read, stdout_write, stderr_write, error_write):
        os.close(fd)
    failure = os.read(error_read, 1 << 16)
    os.close(error_read)
    limit = request["log_limit"]
    secrets = [secret.encode() for secret in request["secrets"]]
    streams[stdout_read] = Output(request["keep"], log, limit, secrets)
    streams[stderr_read] = Output(request["keep"], log, limit, secrets)
    if failure:
        os.waitpid(pid, 0)
        for fd in streams:
            os.close(fd)
        if log is not None:
            os.close(log)
        raise StartError(json.loads(failure))
    return pid, streams, -1 if log is None else log


class StartError(Exception):
    """The program could not be started: [errno, message, what failed]."""


def _open(path: str, flags: int) -> int:
    try:
        return os.open(path, flags, 0o644)
    except OSError as exc:
        raise StartError([exc.errno, exc.strerror, path]) from exc


def _killpg(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        pass


def run(
    request: dict[str, Any], control: socket.socket
) -> tuple[dict[str, Any], bytes, bytes]:
    """Run one program to its end, or to the end of its time."""
    started = time.monotonic()
    try:
        pid, streams, log = _start(request)
    except StartError as exc:
        number, message, place = exc.args[0]
        answer = {
            "not_started": message,
            "errno": errno.errorcode.get(number, ""),
            "place": place,
        }
        return answer, b"", b""
    outputs = list(streams.values())
    exited = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(exited, select.POLLIN)
    poller.register(control, select.POLLIN)
    for fd in streams:
        poller.register(fd, select.POLLIN)
    deadline = started + request["timeout"]
    watch = DiskWatch(*request["disk"]) if request["disk"] else None
    ending = timed_out = stopped = False
    exceeded = ""
    status = None
    while status is None:
        wake = min(deadline, watch.due) if watch else deadline
        if request["stop"]:
            wake = min(wake, time.monotonic() + _LOOK_SECONDS)
        left = max(0.0, wake - time.monotonic())
        events = poller.poll(left * 1000 + 1)
        for fd, _ in events:
            if fd in streams:
                _drain_once(fd, streams, poller)
            elif fd == exited:
                status = os.waitpid(pid, 0)[1]
            else:
                # The harness is gone, or says stop: end everything.
                _killpg(pid, signal.SIGKILL)
                kill_descendants()
                os._exit(0)
        if status is None and watch and time.monotonic() >= watch.due:
            exceeded = watch.look()
            if exceeded:
                _killpg(pid, signal.SIGKILL)
                status = os.waitpid(pid, 0)[1]
        if status is None and not ending and request["stop"]:
            stopped = os.path.exists(request["stop"])
            if stopped:
                deadline = time.monotonic()
        if status is None and time.monotonic() >= deadline:
            if ending:
                _killpg(pid, signal.SIGKILL)
                status = os.waitpid(pid, 0)[1]
            else:
                ending = True
                timed_out = not stopped
                deadline = time.monotonic() + request["grace"]
                _killpg(pid, signal.SIGTERM)
                _killpg(pid, signal.SIGCONT)
    duration = time.monotonic() - started
    _killpg(pid, signal.SIGKILL)
    survivors = kill_descendants()
    # All writers are dead: what is in the pipes is all there will be.
    for fd in list(streams):
        os.set_blocking(fd, False)
        while fd in streams:
            _drain_once(fd, streams, poller)
    os.close(exited)
    for output in outputs:
        output.close()
    if log >= 0:
        os.close(log)
    answer = {
        "exit_code": os.waitstatus_to_exitcode(status),
        "timed_out": timed_out,
        "duration": duration,
        "survivors": survivors,
        "exceeded": exceeded,
        "stopped": stopped,
        "output_bytes": [output.total for output in outputs],
    }
    return answer, outputs[0].kept(), outputs[1].kept()


def _drain_once(fd: int, streams: dict[int, Output], poller: select.poll) -> None:
    try:
        data = os.read(fd, _READ_BYTES)
    except BlockingIOError:
        data = b""
    if data:
        streams[fd].feed(data)
    else:
        poller.unregister(fd)
        os.close(fd)
        del streams[fd]


def main() -> None:
    """Serve requests until the socket closes."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    become_subreaper()
    leave_keyring()
    reader = control.makefile("rb")
    while line := reader.readline():
        answer, stdout, stderr = run(json.loads(line), control)
        answer["sizes"] = [len(stdout), len(stderr)]
        try:
            control.sendall(json.dumps(answer).encode() + b"\n" + stdout + stderr)
        except BrokenPipeError:
            break


if __name__ == "__main__":
    main()
