"""Imports what sessions and commands import, once, and forks for each who asks.

    python server.py FD

``FD`` is a Unix socket that listens: the first may ask before all is imported. A fork
is a process as any other, with its own exit code; only what it would have imported is
there already. The server ends when stdin does, as that is its starter's end.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import NoReturn

import execnet.gateway_io


#: Run in other interpreters, by their paths.
_NOT_OURS = ("inside", "supervisor", "descendants", "rubric_host", "forward")
_LIBRARIES = (
    "docker.errors",
    "pytest_timeout",
    "scipy.special",
    "scipy.stats",
    "xdist.looponfail",
    "xdist.plugin",
    "xdist.remote",
    "xdist.workermanage",
)
#: Variables that are read when an interpreter starts: a fork is too late for them.
_READ_AT_START = ("LANG", "LC_ALL", "LC_CTYPE", "OPENBLAS_NUM_THREADS")
_PATH = "PYTHONPATH"


def import_all() -> None:
    """Import what is asked for most, with pytest's rewriting where pytest would."""
    import _pytest.config
    import pytest  # noqa: F401
    from _pytest.assertion import install_importhook

    config = _pytest.config.get_config()
    hook = install_importhook(config)
    hook.mark_rewrite("pytest_timeout", "xdist")
    for name in (*_pytest.config.default_plugins, "pytester"):
        importlib.import_module(f"_pytest.{name}")
    for name in _LIBRARIES:
        importlib.import_module(name)
    import pytest_codegenie

    for module in pkgutil.walk_packages(
        pytest_codegenie.__path__, "pytest_codegenie.", onerror=lambda _: None
    ):
        last = module.name.rpartition(".")[2]
        if last != "__main__" and last not in _NOT_OURS:
            importlib.import_module(module.name)
    sys.meta_path.remove(hook)


@dataclass(frozen=True, slots=True)
class Request:
    """What a fork is to be."""

    arguments: list[str]
    directory: str
    umask: int
    variables: dict[str, str]
    files: list[int]

    def is_possible(self, own: dict[str, str]) -> bool:
        """Say whether a fork would do what a new interpreter does."""
        own_words, words = _read_at_start(own), _read_at_start(self.variables)
        return own_words == words and _program(self.arguments) is not None


def _read_at_start(variables: dict[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in variables.items()
        if name in _READ_AT_START or (name.startswith("PYTHON") and name != _PATH)
    }


def _program(arguments: list[str]) -> tuple[str, str, list[str]] | None:
    """Return (``-m`` or ``-c``, what, its arguments); None: it is something else."""
    rest = arguments[1:] if arguments[:1] == ["-u"] else arguments
    if not rest or rest[0][:2] not in ("-m", "-c"):
        return None
    if len(rest[0]) > 2:
        return rest[0][:2], rest[0][2:], rest[1:]
    return (rest[0], rest[1], rest[2:]) if len(rest) > 1 else None


class Server:
    """Waits for requests, and for the ends of forks."""

    def __init__(self, fd: int) -> None:
        self._variables = dict(os.environ)
        self._path = list(sys.path)
        self._clients: dict[int, socket.socket] = {}
        self._listener = socket.socket(fileno=fd)
        self._wake, wake = socket.socketpair()
        wake.setblocking(False)
        self._waker = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno())

    def start_workers_warm(self) -> None:
        """Let forks that are sessions start xdist's workers as forks."""
        client = Path(__file__).with_name("client.py")
        address = self._listener.getsockname()
        command = [sys.executable, "-I", "-S", str(client), address, "-u", "-c"]
        command.append(execnet.gateway_io.popen_bootstrapline)
        execnet.gateway_io.popen_args = lambda spec: list(command)

    def serve(self) -> Request | None:
        """Serve until the starter ends; in a fork, return what it is to be."""
        selector = selectors.DefaultSelector()
        for file in (sys.stdin, self._listener, self._wake):
            selector.register(file, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    return None
                if key.fileobj is self._wake:
                    self._wake.recv(4096)
                elif request := self._take():
                    selector.close()
                    return request
            self._tell_of_ends()

    def _take(self) -> Request | None:
        """Fork for one who asks; in the fork, return what it is to be."""
        client, _ = self._listener.accept()
        request = _read(client)
        if request is None or not request.is_possible(self._variables):
            client.close()
            _close(request.files if request else [])
            return None
        pid = os.fork()
        if not pid:
            self._leave(client)
            return request
        _close(request.files)
        self._clients[pid] = client
        client.sendall(b"%d" % pid)
        return None

    def _tell_of_ends(self) -> None:
        while self._clients:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._clients.pop(pid) as client:
                try:
                    client.sendall(b"%d" % status)
                except OSError:
                    pass  # nobody waits for it

    def _leave(self, client: socket.socket) -> None:
        """Give up what is the server's, in a fork."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        mine = (self._listener, self._wake, self._waker, client)
        for each in (*mine, *self._clients.values()):
            each.close()
        sys.path[:] = self._path


def _read(client: socket.socket) -> Request | None:
    client.settimeout(10)
    try:
        size, files, _, _ = socket.recv_fds(client, 8, 3)
        data = b""
        while len(data) < int.from_bytes(size, "big"):
            data += client.recv(1 << 20)
        return Request(files=files, **json.loads(data))
    except (OSError, ValueError):
        return None


def _close(files: list[int]) -> None:
    for fd in files:
        os.close(fd)


def become(request: Request) -> NoReturn:
    """Be what was asked for, to the end."""
    for number, fd in enumerate(request.files):
        os.dup2(fd, number)
    _close(request.files)
    os.setsid()
    os.umask(request.umask)
    os.chdir(request.directory)
    os.environ.clear()
    os.environ.update(request.variables)
    _open_standard_files(unbuffered="-u" in request.arguments[:1])
    program = _program(request.arguments)
    assert program is not None
    kind, what, arguments = program
    sys.orig_argv = [sys.executable, *request.arguments]
    sys.argv = [kind, *arguments]
    _find_modules(request.directory if kind == "-m" else "")
    _end_at_once(_run(kind, what))


def _find_modules(first: str) -> None:
    """Put on the path what a new interpreter has before all else."""
    import xdist.plugin  # type: ignore[import-untyped]

    places = os.environ.get(_PATH, "").split(os.pathsep)
    sys.path[:0] = [first, *(os.path.abspath(place) for place in places if place)]  # noqa: PTH100 -- as site does
    # It keeps what the path was when it was imported, for its workers.
    xdist.plugin._sys_path[:] = sys.path
    importlib.invalidate_caches()


def _run(kind: str, what: str) -> int:
    """Run the program; return its exit code."""
    try:
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            main: Any = types.ModuleType("__main__")
            sys.modules["__main__"] = main
            exec(compile(what, "<string>", "exec"), main.__dict__)
    except SystemExit as exc:
        if exc.code is None or isinstance(exc.code, int):
            return (exc.code or 0) & 0xFF
        print(exc.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _end_at_once(code: int) -> NoReturn:
    """End as an interpreter does, but do not tidy up: all pages would be copied."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            file.flush()
    os._exit(code)


def _open_standard_files(*, unbuffered: bool) -> None:
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        buffering = 0 if unbuffered and fd else -1
        binary: Any = os.fdopen(fd, "wb" if fd else "rb", buffering, closefd=False)
        text = io.TextIOWrapper(
            binary,
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=fd == 2 or os.isatty(fd),
            write_through=unbuffered and fd > 0,
        )
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def main() -> None:
    """Serve; what forks become is not below the server's own frames."""
    del sys.path[0]  # this directory
    import_all()
    server = Server(int(sys.argv[1]))
    server.start_workers_warm()
    gc.collect()
    gc.freeze()
    request = server.serve()
    del server
    if request is not None:
        become(request)


main()
