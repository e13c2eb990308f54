"""The workspace ``sandbox``: bubblewrap, with nothing of the machine but the system."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits
from pytest_codegenie.processes import NotStarted
from pytest_codegenie.workspaces import environments
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.host import run_supervised
from pytest_codegenie.workspaces.layout import HOME
from pytest_codegenie.workspaces.layout import TEMPORARY
from pytest_codegenie.workspaces.layout import TREE
from pytest_codegenie.workspaces.layout import EnclosedTree
from pytest_codegenie.workspaces.layout import exit_code
from pytest_codegenie.workspaces.limiting import caged
from pytest_codegenie.workspaces.limiting import limits_by
from pytest_codegenie.workspaces.local_tree import add_environment
from pytest_codegenie.workspaces.local_tree import fixed_variables
from pytest_codegenie.workspaces.network import FORWARD_SCRIPT
from pytest_codegenie.workspaces.network import Endpoint
from pytest_codegenie.workspaces.network import Relay
from pytest_codegenie.workspaces.network import forward_arguments
from pytest_codegenie.workspaces.network import hosts_lines
from pytest_codegenie.workspaces.network import read_endpoints
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Phase
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import WorkspaceSpec
from pytest_codegenie.workspaces.system_view import SYSTEM
from pytest_codegenie.workspaces.system_view import USER
from pytest_codegenie.workspaces.system_view import make_etc
from pytest_codegenie.workspaces.system_view import masks
from pytest_codegenie.workspaces.system_view import system_mounts


#: What building environments may read of the user's home: how to reach an index.
_INDEX_SETTINGS = (".config/pip", ".config/uv", ".netrc", ".pip", ".pypirc")

_NAMESPACES = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--uid",
    str(USER),
    "--gid",
    str(USER),
    "--hostname",
    "sandbox",
    "--die-with-parent",
    "--disable-userns",
)


@functools.cache
def _bubblewrap() -> str:
    """Return the program's path, "" where there is none."""
    return shutil.which("bwrap") or ""


@functools.cache
def _probe() -> str:
    """Return "" if a sandbox can be started here, or else why not."""
    program = _bubblewrap()
    if not program:
        return "bubblewrap is not installed (apt-get install bubblewrap)"
    options = [*_NAMESPACES, "--unshare-net", *system_mounts()]
    command = [program, *options, "--", "/usr/bin/env", "--default-signal=TERM", "true"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as exc:
        return f"{program} does not start: {exc}"
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        return (
            f"{program} fails: {words}; user namespaces may be switched off here "
            "(sysctl kernel.apparmor_restrict_unprivileged_userns, user.max_user_"
            "namespaces; in a container: --security-opt seccomp=unconfined)"
        )
    return ""


class SandboxWorkspace(EnclosedTree):
    """A copy of the repository that programs see alone, by namespaces of their own."""

    name = "sandbox"

    def __init__(self) -> None:
        super().__init__()
        self._etc = Path()
        self._endpoints: tuple[Endpoint, ...] = ()

    @property
    def isolation(self) -> str:
        """Say what is closed."""
        return (
            "bubblewrap: files, processes and network are the case's own; "
            f"{limits_by()}"
        )

    def probe(self) -> str:
        """Start a sandbox; what came of it holds for this process."""
        return _probe()

    def configure(self, spec: WorkspaceSpec) -> None:
        """Take what is asked for.

        Raises:
            WorkspaceUnavailable: There can be no sandbox here.
        """
        if self.probe():
            raise WorkspaceUnavailable(f"workspace 'sandbox': {self.probe()}")
        for path in (*spec.readable, *spec.sandbox.readable):
            if not path.exists():
                raise WorkspaceUnavailable(
                    f"{path} is to be readable (an agent's program or its option "
                    "'readable', or 'sandbox.readable'), but it does not exist"
                )
        super().configure(spec)
        self._endpoints = read_endpoints(spec.endpoints)

    def provide(self, recipe: Recipe) -> Environment:
        """Return a virtual environment, built in a sandbox that has the network."""
        return environments.provide(recipe, self.spec, self._run_setup)

    def foresee(self, recipe: Recipe) -> tuple[Needed, ...]:
        """Return the environment that a recipe needs, and whether it is there."""
        return environments.foresee(recipe, self.spec.cache, self._run_setup)

    def prepare(self, base: Base, environment: Environment) -> None:
        """Copy the base's files; have what stands for the system's own settings."""
        super().prepare(base, environment)
        try:
            self._etc = make_etc(self.spec.cache, hosts_lines(self._endpoints))
        except OSError as exc:
            raise WorkspaceUnavailable(f"no sandbox can be made: {exc}") from exc

    def variables(self, phase: Phase) -> dict[str, str]:
        """Return next to nothing; nothing of the user's."""
        variables = fixed_variables(str(HOME), str(TEMPORARY))
        if not self.environment.own:
            # ``python`` is the one that tests run with; the system may have none.
            programs = PurePosixPath(self.environment.python).parent
            variables["PATH"] = f"{programs}:{variables['PATH']}"
        return add_environment(variables, self.environment, str(TREE))

    def exec(
        self,
        argv: Sequence[str],
        *,
        phase: Phase,
        env: Mapping[str, str],
        limits: Limits,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
    ) -> Completed:
        """Run a program in a sandbox of its own; all of it dies with the program."""
        self._check_program(argv[0], env)
        with self._network(phase) as network:
            return self._run(
                [*_NAMESPACES, *self._mounts(), "--chdir", str(TREE)],
                argv,
                network=network,
                env=env,
                limits=limits,
                stdin_path=stdin_path,
                log_path=log_path,
            )

    @contextlib.contextmanager
    def _network(self, phase: Phase) -> Iterator[_Network]:
        """Yield what programs of a phase have of a network."""
        if phase == "setup":
            yield _Network()
        elif phase == "judge" or not self._endpoints:
            yield _Network(options=("--unshare-net",))
        else:
            sockets = Path(tempfile.mkdtemp(dir=self.spec.directory, prefix="sockets-"))
            with Relay(self._endpoints, sockets):
                yield _Network(around=_forwarding(self._endpoints, sockets))

    def _mounts(self) -> list[str]:
        """Return what is seen inside, and nothing else is."""
        mounts = system_mounts(self._etc)
        for outside, inside in self._places().items():
            mounts += ["--bind", str(outside), str(inside)]
        shown = self._shown()
        for path in shown:
            mounts += ["--ro-bind", str(path), str(path)]
        mounts += masks(self.spec.hidden, shown)
        # Its files are memory, which no rlimit counts.
        mounts += ["--size", str(self.spec.limits.memory), "--tmpfs", "/dev/shm"]  # noqa: S108
        return [*mounts, "--remount-ro", "/dev", "--remount-ro", "/"]

    def _shown(self) -> tuple[Path, ...]:
        """Return what of the host is there, read-only, by the same path."""
        wanted = (
            *self.environment.directories,
            *self.spec.readable,
            *self.spec.sandbox.readable,
        )
        return tuple(
            path for path in dict.fromkeys(wanted) if not path.is_relative_to("/usr")
        )

    def _check_program(self, program: str, env: Mapping[str, str]) -> None:
        """See to it that there is such a program, by what is bound inside.

        Raises:
            NotStarted: There is none.
        """
        if "/" in program:
            places = [str(TREE / program)]
        else:
            places = [
                f"{directory or '.'}/{program}"
                for directory in env.get("PATH", os.defpath).split(":")
            ]
        found = [path for path in map(self._outside, places) if path is not None]
        if any(path.is_file() and os.access(path, os.X_OK) for path in found):
            return
        if any(path.exists() for path in found):
            raise NotStarted(program, "Permission denied", "EACCES")
        raise NotStarted(program, "No such file or directory", "ENOENT")

    def _outside(self, inside: str) -> Path | None:
        """Return the host's path of one inside; None where it is not bound."""
        path = PurePosixPath(inside)
        for shown in (*self._shown(), Path("/usr"), *map(Path, SYSTEM)):
            if path.is_relative_to(shown):
                return Path(path)
        for outside, place in self._places().items():
            if path.is_relative_to(place):
                return outside / path.relative_to(place)
        return None

    def _run(
        self,
        options: Sequence[str],
        argv: Sequence[str],
        *,
        network: _Network,
        env: Mapping[str, str],
        limits: Limits,
        stdin_path: Path | None = None,
        log_path: Path | None = None,
    ) -> Completed:
        """Run a program behind bubblewrap.

        Raises:
            WorkspaceUnavailable: It was not the program that ended, but bubblewrap.
        """
        status = self.spec.directory / f"status-{secrets.token_hex(8)}.json"
        status_fd = 3
        sandbox = [_bubblewrap(), "--json-status-fd", str(status_fd), *options]
        # SIGTERM is for the program: bubblewrap would end at once, and kill it. PWD is
        # bubblewrap's own addition to the environment.
        program = ["/usr/bin/env", "--default-signal=TERM", "--unset=PWD"]
        program += [f"PWD={env['PWD']}"] if "PWD" in env else []
        program += argv
        with caged(self.spec.limits, self.spec.directory, limits) as cage:
            completed = run_supervised(
                [*network.around, *sandbox, *network.options, "--", *program],
                cwd=Path("/"),
                env=env,
                limits=dataclasses.replace(cage.limits, shielded=True),
                stdin_path=stdin_path,
                log_path=log_path,
                inherited={status_fd: status},
            )
            completed = cage.told(completed)
        ended = b'"exit-code"' in status.read_bytes()
        told_to_end = completed.timed_out or completed.stopped or completed.exceeded
        if not ended and not told_to_end:
            words = completed.stderr.decode(errors="replace").strip()
            raise WorkspaceUnavailable(f"the sandbox broke: {words[-2000:]}")
        code = exit_code(completed.exit_code)
        # What the program left running died with its namespace, uncounted.
        return dataclasses.replace(completed, exit_code=code, survivors=0)

    def _run_setup(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        readable: Sequence[Path],
        writable: Sequence[Path],
        limits: Limits,
        log_path: Path | None,
    ) -> Completed:
        """Run a command that builds an environment: all is read-only but its place."""
        mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        mounts += ["--ro-bind", "/proc/sys", "/proc/sys"]
        for place in ("/home", "/root", "/run", "/tmp"):  # noqa: S108 -- closed
            if Path(place).is_dir():
                mounts += ["--tmpfs", place]
        home = Path.home()
        own = [home / name for name in _INDEX_SETTINGS if (home / name).exists()]
        names = Path("/etc/resolv.conf").resolve()  # often a file below /run
        for path in (*own, *readable, cwd, *([names] if names.exists() else [])):
            mounts += ["--ro-bind", str(path), str(path)]
        mounts += masks(self.spec.hidden, [Path("/")])
        for path in writable:
            mounts += ["--bind", str(path), str(path)]
        return self._run(
            [*_NAMESPACES, *mounts, "--chdir", str(cwd)],
            argv,
            network=_Network(),
            env=env,
            limits=limits,
            log_path=log_path,
        )


@dataclass(frozen=True, slots=True)
class _Network:
    """How a sandbox is started to have no network, a little, or the machine's."""

    #: The command that starts the sandbox in a network of its own.
    around: Sequence[str] = ()
    #: Of the sandbox itself.
    options: Sequence[str] = ()


def _forwarding(endpoints: Sequence[Endpoint], sockets: Path) -> list[str]:
    """Return a command that starts another where endpoints are all there is.

    A second bubblewrap around the first: it may give its network addresses and listen
    on any port, and what runs in the first neither sees the forwarder nor its rights.
    """
    # The last is what the kernel asks of an ordinary user's root who is to be mapped to
    # a user of the inner one (user_namespaces(7)).
    rights = ("CAP_NET_ADMIN", "CAP_NET_BIND_SERVICE", "CAP_SETFCAP")
    return [
        _bubblewrap(),
        *("--unshare-user", "--unshare-net", "--uid", "0", "--gid", "0"),
        *(word for right in rights for word in ("--cap-add", right)),
        *("--dev-bind", "/", "/", "--die-with-parent", "--"),
        *(sys.executable, "-I", "-S", str(FORWARD_SCRIPT)),
        *forward_arguments(endpoints, str(sockets)),
    ]
