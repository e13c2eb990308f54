"""The process that a rubric lives in: ``python -I rubric_host.py ROOT TASK_CLASS FD``.

It imports the rubric once and forks for every score, so that a score costs a fork and
not an interpreter, and nothing is remembered from one score to the next. The fork has
an empty environment, an empty scratch directory, no descriptor but its two pipes,
limits, and, where the machine allows it, no network. When it has answered or its time
is up, it and all that it started are killed.

ROOT is the directory to import ``pytest_codegenie`` from, FD a Unix socket.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any


# First for a moment: this is to be the code of the harness that started it, whatever
# else is installed. For everybody else's modules it comes last.
sys.path.insert(0, sys.argv[1])

from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import BenchScore
from pytest_codegenie.models import HarnessOutput
from pytest_codegenie.processes.descendants import Output
from pytest_codegenie.processes.descendants import become_subreaper
from pytest_codegenie.processes.descendants import die_with_parent
from pytest_codegenie.processes.descendants import kill_descendants
from pytest_codegenie.task_modules import import_registration
from pytest_codegenie.trees import remove_tree


sys.path.append(sys.path.pop(0))

#: What a rubric may answer, and what it may print.
MAX_ANSWER_BYTES = 1 << 20
MAX_PRINTED_BYTES = 1 << 20
_KEEP_BYTES = 1 << 15
_LIMITS = {
    resource.RLIMIT_AS: 2 << 30,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 64 << 20,
    resource.RLIMIT_NOFILE: 128,
    # Of the user, not of this process: enough that nothing else of the user's breaks.
    resource.RLIMIT_NPROC: 4096,
}
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def drop_network() -> None:
    """Leave the machine's network, where the kernel lets this user."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(
                f"{group} {group} 1", encoding="ascii"
            )


def score_in_fork(rubric_class: type[Any], request: dict[str, Any]) -> dict[str, Any]:
    """Score once in a fork; return what came of it: answer, printed, end."""
    answer_read, answer_write = os.pipe()
    printed_read, printed_write = os.pipe()
    scratch = request["scratch"]
    pid = os.fork()
    if pid == 0:
        try:
            _score(rubric_class, request, scratch, answer_write, printed_write)
        finally:
            os._exit(1)
    os.close(answer_write)
    os.close(printed_write)
    answer = Output(MAX_ANSWER_BYTES)
    printed = Output(_KEEP_BYTES)
    end, status = _watch(
        pid, {answer_read: answer, printed_read: printed}, request["timeout"]
    )
    remove_tree(Path(scratch))
    return {
        "answer": bytes(answer.head).decode(errors="replace"),
        "answer_bytes": answer.total,
        "printed": printed.kept().decode(errors="replace"),
        "printed_bytes": printed.total,
        "end": end,
        "exit_code": os.waitstatus_to_exitcode(status),
    }


def _watch(pid: int, streams: dict[int, Output], timeout: float) -> tuple[str, int]:
    """Read until the fork ends, its time is up or it says too much."""
    exited = os.pidfd_open(pid)
    poller = select.poll()
    for fd in (exited, *streams):
        poller.register(fd, select.POLLIN)
    deadline = time.monotonic() + timeout
    end = ""
    while not end:
        left = deadline - time.monotonic()
        events = poller.poll(max(0.0, left) * 1000 + 1)
        for fd, _ in events:
            if fd == exited:
                end = "exited"
                continue
            data = os.read(fd, 1 << 16)
            if data:
                streams[fd].feed(data)
            else:
                poller.unregister(fd)
        if any(output.total > MAX_PRINTED_BYTES for output in streams.values()):
            end = "too much"
        elif not end and time.monotonic() >= deadline:
            end = "timeout"
    if end != "exited":
        os.kill(pid, 9)
    status = os.waitpid(pid, 0)[1]
    kill_descendants()
    for fd, output in streams.items():
        os.set_blocking(fd, False)
        with contextlib.suppress(BlockingIOError):
            while output.total <= MAX_PRINTED_BYTES and (data := os.read(fd, 1 << 16)):
                output.feed(data)
        os.close(fd)
    os.close(exited)
    return end, status


def _score(
    rubric_class: type[Any],
    request: dict[str, Any],
    scratch: str,
    answer_write: int,
    printed_write: int,
) -> None:
    """Be the fork: never returns."""
    os.setsid()
    die_with_parent()
    os.chdir(scratch)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(printed_write, 1)
    os.dup2(printed_write, 2)
    answer_fd = os.dup2(answer_write, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)
    os.environ.clear()
    for number, limit in (
        *_LIMITS.items(),
        (resource.RLIMIT_CPU, int(request["timeout"]) + 1),
    ):
        hard = resource.getrlimit(number)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(number, (limit, limit))
    exit_code = 0
    try:
        case = BenchCase.model_validate(request["case"])
        output = HarnessOutput.model_validate(request["output"])
        score = rubric_class().score(case, output)
        if isinstance(score, BenchScore):
            answer = score.model_dump_json()
        else:
            sys.stdout.write(
                f"score() returned {type(score).__name__}, not a BenchScore\n"
            )
            answer = ""
        data = answer.encode()
        while data:
            data = data[os.write(answer_fd, data) :]
    except SystemExit as exc:
        sys.stdout.write(f"score() exited with {exc.code!r}\n")
        exit_code = 1
    except BaseException as exc:
        exit_code = 1
        traceback.print_exc()
        # The last line is what a report shows; an exception may have several.
        words = " ".join(str(exc).split())
        sys.stderr.write(f"score() raised {type(exc).__name__}: {words}\n")
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(exit_code)


def main() -> None:
    """Serve requests until the socket closes."""
    _, _root, task_class_dir, fd = sys.argv
    control = socket.socket(fileno=int(fd))
    control.set_inheritable(False)
    # Before the rubric's own code gets to run, which importing it does.
    become_subreaper()
    drop_network()
    broken = ""
    rubric_class: type[Any] = object
    try:
        rubric_class = import_registration(Path(task_class_dir)).rubric_class
    except CodegenieError as exc:
        broken = str(exc)
    reader = control.makefile("rb")
    while line := reader.readline():
        answer = {"broken": broken}
        if not broken:
            answer = score_in_fork(rubric_class, json.loads(line))
        control.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
