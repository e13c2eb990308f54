"""Running one program to its end in one container, which ends with the program.

The engine's init is the container's first process and the program's parent. When the
program ends, the init does, and the kernel kills whatever else is in the container's
process namespace: daemons, other sessions, double forks.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any
from typing import Self

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.logs import emit
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import DiskLimit
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.processes import secret_words
from pytest_codegenie.processes.descendants import DiskWatch
from pytest_codegenie.processes.descendants import Output
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import engine_errors
from pytest_codegenie.workspaces.layout import exit_code


_LAUNCH = Path(__file__).with_name("launch.sh")
#: What the launcher says on stderr before it becomes the program.
_STARTED = b"S"
_NOT_STARTED = {
    b"N": ("No such file or directory", "ENOENT"),
    b"P": ("Permission denied", "EACCES"),
}
#: In which an engine has to do what we ask: end a container, say how it ended.
_ENGINE_SECONDS = 60.0
#: How often it is looked whether a program is told to end.
_LOOK_SECONDS = 0.25
#: HTTP's words for a container that is not there, or that somebody removes.
_GONE = (404, 409)
#: The kernel's defaults.
_OPEN_FILES = 1024
_PID_MAX = 1 << 15


@dataclass(frozen=True, slots=True)
class Box:
    """What a container is made from, apart from the program."""

    image: str
    #: ``uid:gid``.
    user: str
    working_directory: PurePosixPath
    labels: Mapping[str, str]
    #: Directories of the host that are bound inside: (host, inside, read-only).
    mounts: Sequence[tuple[Path, PurePosixPath, bool]] = ()
    #: Of the engine's host configuration, as docker-py names them.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Of each process, as docker-py names them.
    ulimits: Mapping[str, int] = field(default_factory=dict)
    #: What is measured on the host while the program runs; None: nothing.
    disk: DiskLimit | None = None
    #: It stays when it has ended.
    stays: bool = False


class Container:
    """One container; a context manager that ends and removes it."""

    def __init__(
        self,
        engine: Engine,
        box: Box,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        stdin: str = os.devnull,
        around: Sequence[str] = (),
    ) -> None:
        """Make it; nothing runs yet.

        Args:
            engine: Where.
            box: From what.
            argv: The program, looked up on ``env``'s PATH, and its arguments.
            env: Its whole environment.
            stdin: What it reads, by its path inside.
            around: A command that starts the program, given as its last arguments.

        Raises:
            WorkspaceUnavailable: The engine does not make it.
        """
        self._engine = engine
        self._box = box
        self._program = argv[0]
        variables = [f"{name}={value}" for name, value in env.items()]
        command = [
            *(env.get("PATH", os.defpath), stdin, argv[0]),
            *(*variables, *around, *argv),
        ]
        with engine_errors(f"no container can be made from image {box.image!r}"):
            made = engine.api.create_container(
                box.image,
                entrypoint=["/bin/sh", "-c", _LAUNCH.read_text("ascii"), "launch.sh"],
                command=command,
                user=box.user,
                working_dir=str(box.working_directory),
                labels=dict(box.labels),
                hostname="codegenie",
                host_config=_host_config(engine, box),
            )
        self.id: str = made["Id"]

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Remove it, and with it whatever still runs in it; or only end that.

        Raises:
            WorkspaceUnavailable: The engine does not do it. A program may have been
                ended by what ails the engine, so what came of it is not told.
        """
        try:
            if self._box.stays:
                self._end()
            else:
                remove_container(self._engine, self.id)
        except WorkspaceUnavailable as exc:
            # The next run, or codegenie clean, finds it by its labels.
            emit("workspace.container_left", level="warning", reason=str(exc))
            if kind is None:
                raise

    def _end(self) -> None:
        """Kill what still runs in it."""
        with engine_errors("the container cannot be ended"):
            if self._engine.api.inspect_container(self.id)["State"]["Running"]:
                self._engine.api.kill(self.id)

    def run(self, limits: Limits, log_path: Path | None = None) -> Completed:
        """Start the program and wait for its end, or for the end of its time.

        Raises:
            NotStarted: There is no such program, or it may not be executed.
            WorkspaceUnavailable: The engine, or the container, broke.
        """
        api = self._engine.api
        with engine_errors("the container does not start"):
            frames = api.attach(
                self.id, stdout=True, stderr=True, stream=True, demux=True
            )
            reading = _Reading(frames, limits, log_path)
            reading.start()
            api.start(self.id)
        started = time.monotonic()
        ending = _Ending(self._engine, self.id)
        ending.start()
        timed_out, stopped, exceeded = self._watch(ending, limits)
        duration = time.monotonic() - started
        code, out_of_memory = self._outcome(ending, reading)
        if reading.word or not (timed_out or stopped or exceeded):
            self._check_start(reading)
        if out_of_memory and not exceeded:
            memory = self._box.options["mem_limit"]
            exceeded = f"more than {memory} bytes of memory"
        return Completed(
            code,
            *reading.kept(),
            timed_out=timed_out,
            duration_seconds=duration,
            # What it left running died with the container, uncounted.
            survivors=0,
            exceeded=exceeded,
            stopped=stopped,
        )

    def _watch(self, ending: _Ending, limits: Limits) -> tuple[bool, bool, str]:
        """Wait for the program's end, or bring it about.

        Returns:
            Its time ran out, it was told to end, the limit that it exceeded.
        """
        deadline = time.monotonic() + limits.timeout_seconds
        disk = self._box.disk
        watch = disk and DiskWatch(str(disk.directory), disk.max_bytes, disk.max_files)
        timed_out = stopped = False
        while True:
            wake = min(deadline, watch.due) if watch else deadline
            if limits.stop is not None:
                wake = min(wake, time.monotonic() + _LOOK_SECONDS)
            if ending.done.wait(max(0.0, wake - time.monotonic())):
                return timed_out, stopped, ""
            if watch and time.monotonic() >= watch.due and (words := watch.look()):
                self._kill(ending)
                return timed_out, stopped, words
            told = not timed_out and limits.stop is not None and limits.stop.exists()
            if (told and not stopped) or time.monotonic() >= deadline:
                if timed_out or stopped:
                    self._kill(ending)
                    return timed_out, stopped, ""
                timed_out, stopped = not told, told
                deadline = time.monotonic() + limits.grace_seconds
                self._terminate()

    def _terminate(self) -> None:
        """Send SIGTERM to every process inside.

        Where that cannot be, as when it may have no more processes, or has ended by
        now, SIGKILL follows soon.
        """
        command = ["/bin/sh", "-c", "kill -TERM -1; kill -CONT -1"]
        api = self._engine.api
        with (
            contextlib.suppress(WorkspaceUnavailable),
            engine_errors("no SIGTERM can be sent"),
        ):
            made = api.exec_create(self.id, command, user=self._box.user)
            api.exec_start(made["Id"], detach=True)

    def _kill(self, ending: _Ending) -> None:
        """End the container.

        Raises:
            WorkspaceUnavailable: The engine does not do it.
        """
        fault = ""
        try:
            with engine_errors("the container cannot be killed"):
                self._engine.api.kill(self.id, signal.SIGKILL.value)
        except WorkspaceUnavailable as exc:
            fault = str(exc)  # it may have ended by itself by now
        if not ending.done.wait(_ENGINE_SECONDS):
            raise WorkspaceUnavailable(fault or "a killed container does not end")

    def _outcome(self, ending: _Ending, reading: _Reading) -> tuple[int, bool]:
        """Return the exit code, and whether the memory did not do."""
        with engine_errors("the engine, or the container, is gone"):
            if ending.error is not None:
                raise ending.error
            state = self._engine.api.inspect_container(self.id)["State"]
        if state["Status"] == "removing":
            raise WorkspaceUnavailable("somebody else removes the container")
        reading.join(_ENGINE_SECONDS)
        if reading.is_alive():
            raise WorkspaceUnavailable("the engine does not end a container's output")
        return exit_code(ending.code), bool(state.get("OOMKilled"))

    def _check_start(self, reading: _Reading) -> None:
        word = reading.word
        if word in _NOT_STARTED:
            raise NotStarted(self._program, *_NOT_STARTED[word])
        if word != _STARTED:
            words = (word + reading.kept()[1]).decode(errors="replace").strip()
            raise WorkspaceUnavailable(
                f"programs cannot be started in image {self._box.image!r}: it needs "
                f"/bin/sh and env: {words or 'no output'}"
            )


def remove_container(engine: Engine, container: str) -> None:
    """Remove a container, and what runs in it; one that is gone, or goes, is fine.

    Raises:
        WorkspaceUnavailable: The engine does not do it.
    """
    from docker.errors import APIError

    with engine_errors("a container cannot be removed"):
        try:
            engine.api.remove_container(container, v=True, force=True)
        except APIError as exc:
            if exc.status_code not in _GONE:
                raise


class _Reading(threading.Thread):
    """Takes what a container prints, until it ends or the engine does."""

    def __init__(self, frames: Any, limits: Limits, log_path: Path | None) -> None:
        super().__init__(daemon=True)
        #: Of docker-py: yields (stdout or None, stderr or None).
        self._frames = frames
        self._log = _open_log(log_path)
        self._outputs = [
            Output(limits.keep_bytes, self._log, limits.log_bytes, secret_words())
            for _ in range(2)
        ]
        #: The launcher's: the first byte on stderr.
        self.word = b""

    def run(self) -> None:
        """Read until the end; the one who waits for the container sees a broken one."""
        with contextlib.suppress(Exception):
            for stdout, stderr in self._frames:
                if stdout:
                    self._outputs[0].feed(stdout)
                if stderr:
                    self._feed_stderr(stderr)
        for output in self._outputs:
            output.close()
        # The stream's own close() leaves half of the connection open.
        self._frames._response.close()
        if self._log is not None:
            os.close(self._log)

    def _feed_stderr(self, data: bytes) -> None:
        if not self.word:
            self.word, data = data[:1], data[1:]
        if data:
            self._outputs[1].feed(data)

    def kept(self) -> tuple[bytes, bytes]:
        """Return what is kept of stdout and of stderr."""
        return self._outputs[0].kept(), self._outputs[1].kept()


class _Ending(threading.Thread):
    """Waits for a container's end.

    The one request is open all the time: if the engine dies, it breaks, even where
    another engine is up at once and takes the container for ended.
    """

    def __init__(self, engine: Engine, container: str) -> None:
        super().__init__(daemon=True)
        self._engine = engine
        self._container = container
        self.done = threading.Event()
        self.code = -1
        self.error: Exception | None = None

    def run(self) -> None:
        """Wait, however long."""
        try:
            answer = self._engine.api.wait(self._container, timeout=None)
            self.code = answer["StatusCode"]
        except Exception as exc:
            self.error = exc
        self.done.set()


def _open_log(path: Path | None) -> int | None:
    if path is None:
        return None
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except OSError as exc:
        raise WorkspaceUnavailable(f"no log can be written: {exc}") from exc


def _host_config(engine: Engine, box: Box) -> Any:
    from docker.types import LogConfig
    from docker.types import Mount
    from docker.types import Ulimit

    limits = dict(box.ulimits)
    if engine.is_podman:
        # It sets what is not given to the highest value, which it may not be allowed.
        limits = {"nofile": _OPEN_FILES, "nproc": _PID_MAX} | limits
    config = engine.api.create_host_config(
        init=True,
        log_config=LogConfig(type="none", config={}),
        mounts=[
            Mount(str(inside), str(outside), type="bind", read_only=read_only)
            for outside, inside, read_only in box.mounts
        ],
        ulimits=[
            Ulimit(name=name, soft=value, hard=value) for name, value in limits.items()
        ],
        **box.options,
    )
    if engine.is_podman and engine.is_rootless:
        # Our user is the same user inside. docker-py knows no such value.
        config["UsernsMode"] = "keep-id"
    return config
