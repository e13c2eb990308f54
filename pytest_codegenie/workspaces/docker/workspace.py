"""The workspace ``docker``: the case's tree in containers without a network."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import DiskLimit
from pytest_codegenie.processes import Limits
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.docker import building
from pytest_codegenie.workspaces.docker import image_trees
from pytest_codegenie.workspaces.docker.containers import Box
from pytest_codegenie.workspaces.docker.containers import Container
from pytest_codegenie.workspaces.docker.engine import Engine
from pytest_codegenie.workspaces.docker.engine import connect
from pytest_codegenie.workspaces.docker.labels import ENVIRONMENTS
from pytest_codegenie.workspaces.docker.labels import IMAGES
from pytest_codegenie.workspaces.docker.labels import labels
from pytest_codegenie.workspaces.docker.labels import remove_images
from pytest_codegenie.workspaces.docker.labels import sweep_containers
from pytest_codegenie.workspaces.foresight import Needed
from pytest_codegenie.workspaces.layout import CONTROL
from pytest_codegenie.workspaces.layout import HOME
from pytest_codegenie.workspaces.layout import TEMPORARY
from pytest_codegenie.workspaces.layout import TREE
from pytest_codegenie.workspaces.layout import EnclosedTree
from pytest_codegenie.workspaces.local_tree import fixed_variables
from pytest_codegenie.workspaces.network import FORWARD_SCRIPT
from pytest_codegenie.workspaces.network import Endpoint
from pytest_codegenie.workspaces.network import Relay
from pytest_codegenie.workspaces.network import forward_arguments
from pytest_codegenie.workspaces.network import read_endpoints
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import Environment
from pytest_codegenie.workspaces.protocol import Phase
from pytest_codegenie.workspaces.protocol import Recipe
from pytest_codegenie.workspaces.protocol import WorkspaceSpec


#: Who programs are where we are root.
_USER = 1000
#: The init.
_OWN_PROCESSES = 1


class DockerWorkspace(EnclosedTree):
    """A copy of the repository that is bound into a container for each program."""

    name = "docker"
    shares_programs = False

    def __init__(self) -> None:
        super().__init__()
        self._endpoints: tuple[Endpoint, ...] = ()
        #: On the host, inside, read-only.
        self._shown: list[tuple[Path, PurePosixPath, bool]] = []

    @property
    def tree_inside(self) -> PurePosixPath:
        """Where programs see the tree: a case may have its own place for it."""
        return PurePosixPath(self.environment.directory or TREE)

    @property
    def isolation(self) -> str:
        """Say what is closed, and by which engine."""
        return (
            f"{connect().name}: files, processes and network are the case's own; "
            "limits by the engine"
        )

    def probe(self) -> str:
        """Return "" if an engine answers, or else why none does."""
        try:
            connect()
        except WorkspaceUnavailable as exc:
            return str(exc)
        return ""

    def configure(self, spec: WorkspaceSpec) -> None:
        """Take what is asked for.

        Raises:
            WorkspaceUnavailable: No engine answers, or an endpoint is none.
        """
        if fault := self.probe():
            raise WorkspaceUnavailable(f"workspace 'docker': {fault}")
        super().configure(spec)
        endpoints = read_endpoints(spec.endpoints)
        if spec.docker.network != "none":
            return  # they are what that network makes of them
        self._endpoints = endpoints
        for endpoint in endpoints:
            if endpoint.name is None and not endpoint.address.startswith("127."):
                raise WorkspaceUnavailable(
                    f"workspace 'docker': the endpoint {endpoint} is an address; give "
                    "it a name (/etc/hosts), as a container's own network can only "
                    "stand in for names"
                )

    def provide(self, recipe: Recipe) -> Environment:
        """Return an image, with what the case's commands install in it."""
        return building.provide(connect(), recipe, self.spec)

    def take_tree(
        self, environment: Environment, directory: str, target: Path
    ) -> Environment:
        """Copy a directory of an image to the host."""
        place = image_trees.take(
            connect(), environment.image, directory, target, self.spec
        )
        return replace(environment, directory=str(place))

    def show(self, inside: str, source: Path | None) -> Path:
        """Show a directory to the programs that are started from now on."""
        place = self.spec.directory / f"shown-{len(self._shown)}"
        try:
            image_trees.copy_readable(source, place)
        except OSError as exc:
            raise WorkspaceUnavailable(
                f"{source} cannot be shown as {inside}: {exc.strerror or exc}"
            ) from exc
        self._hand_over(place)
        self._shown.append((place, PurePosixPath(inside), source is not None))
        return place

    def foresee(self, recipe: Recipe) -> tuple[Needed, ...]:
        """Return the images that a recipe needs, and whether they are there."""
        return building.foresee(connect(), recipe, self.spec)

    def prepare(self, base: Base, environment: Environment) -> None:
        """Copy the base's files and give them to the user that programs are."""
        super().prepare(base, environment)
        for place in self._places():
            self._hand_over(place)

    def put(self, files: Mapping[str, Path | None]) -> None:
        """Write files into the tree; a link in the way is replaced, not followed."""
        super().put(files)
        self._hand_over(self.tree)

    def apply_patch(self, patch: str) -> tuple[bool, str]:
        """Apply a git diff to the tree, all of it or nothing."""
        outcome = super().apply_patch(patch)
        self._hand_over(self.tree)
        return outcome

    def variables(self, phase: Phase) -> dict[str, str]:
        """Return the image's own, and next to nothing else."""
        own = dict(self.environment.variables)
        if self.environment.roots:
            paths = [str(self.tree_inside / root) for root in self.environment.roots]
            own["PYTHONPATH"] = ":".join(paths)
        fixed = fixed_variables(str(HOME), str(TEMPORARY))
        return fixed | own | {key: fixed[key] for key in ("HOME", "TMPDIR")}

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
        """Run a program in a container of its own; all of it dies with the program."""
        self._hand_over(self.scratch)
        self._hand_over(self.home)
        with self._control(phase, stdin_path) as control:
            box = self._box(phase, control, limits)
            with Container(
                connect(),
                box,
                argv,
                env=env,
                stdin=control.stdin,
                around=control.around,
            ) as container:
                return container.run(limits, log_path)

    @contextmanager
    def _control(self, phase: Phase, stdin_path: Path | None) -> Iterator[_Control]:
        """Yield a directory with what a program reads and what it is started by."""
        place = Path(tempfile.mkdtemp(dir=self.spec.directory, prefix="control-"))
        place.chmod(0o755)
        stdin = os.devnull
        if stdin_path is not None:
            stdin = str(CONTROL / "stdin")
            shutil.copyfile(stdin_path, place / "stdin")
            (place / "stdin").chmod(0o644)
        if phase != "agent" or not self._endpoints:
            yield _Control(place, stdin)
            return
        if "/" not in self.environment.python:
            raise WorkspaceUnavailable(
                "the agent reaches its endpoints through a script of ours, and the "
                "image has no python3 to run it; install it in the image"
            )
        shutil.copyfile(FORWARD_SCRIPT, place / FORWARD_SCRIPT.name)
        sockets = place / "sockets"
        sockets.mkdir()
        with Relay(self._endpoints, sockets):
            yield _Control(place, stdin, self._forwarding())

    def _forwarding(self) -> list[str]:
        """Return a command that starts another where endpoints can be reached."""
        return [
            *(self.environment.python, "-I", "-S"),
            str(CONTROL / FORWARD_SCRIPT.name),
            *forward_arguments(self._endpoints, str(CONTROL / "sockets")),
        ]

    def _box(self, phase: Phase, control: _Control, limits: Limits) -> Box:
        spec = self.spec
        places = [(path, inside, False) for path, inside in self._places().items()]
        own = spec.limits
        ulimits = {
            "core": 0,
            "fsize": own.file_size,
            "nofile": own.open_files,
        }
        if own.cpu_seconds is not None:
            ulimits["cpu"] = max(1, round(own.cpu_seconds))
        for name, value in limits.rlimits.items():
            ulimits[name.removeprefix("RLIMIT_").lower()] = value
        return Box(
            image=self.environment.image,
            user=_user(connect()),
            working_directory=self.tree_inside,
            labels=labels("program", spec),
            mounts=[
                *places,
                *self._shown,
                (self.temporary, PurePosixPath("/var/tmp"), False),  # noqa: S108
                (control.directory, CONTROL, True),
            ],
            options=self._options(phase),
            ulimits=ulimits,
            disk=DiskLimit(spec.directory, own.disk, own.files),
            stays=not spec.docker.cleanup,
        )

    def _options(self, phase: Phase) -> dict[str, Any]:
        docker, own = self.spec.docker, self.spec.limits
        memory = docker.memory or own.memory
        options: dict[str, Any] = {
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "read_only": True,
            "mem_limit": memory,
            # Memory and swap together: none of it is swap.
            "memswap_limit": memory,
            "pids_limit": own.processes + _OWN_PROCESSES,
        }
        if cpus := docker.cpus or own.cpus:
            options["nano_cpus"] = round(cpus * 1e9)
        if phase == "setup":
            return options
        options["network_mode"] = docker.network if phase == "agent" else "none"
        if phase == "agent" and self._endpoints:
            options["extra_hosts"] = {
                endpoint.name: endpoint.address
                for endpoint in self._endpoints
                if endpoint.name is not None
            }
            # The forwarder is nobody, and 443 is what it has to listen on.
            options["sysctls"] = {"net.ipv4.ip_unprivileged_port_start": "0"}
        return options

    @staticmethod
    def _hand_over(directory: Path) -> None:
        """Give what is root's to the user that programs are, where we are root.

        No program runs meanwhile. Links are not followed.
        """
        if os.getuid():
            return
        entries = (entry.path for _, entry in walk(directory))
        for path in (str(directory), *entries):
            if os.lstat(path).st_uid == 0:
                os.chown(path, _USER, _USER, follow_symlinks=False)

    def sweep(
        self, abandoned: Callable[[Path], bool], *, dry_run: bool = False
    ) -> list[str]:
        """Remove the containers that killed runs have left; return what they are."""
        return sweep_containers(connect(), abandoned, dry_run=dry_run)

    def forget(
        self, *, environments: bool, images: bool, dry_run: bool = False
    ) -> list[str]:
        """Remove what is kept for later runs; return what that is."""
        repositories = ENVIRONMENTS * environments + IMAGES * images
        return remove_images(connect(), repositories, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Control:
    """What we give a program beside the workspace."""

    directory: Path
    #: By its path inside.
    stdin: str
    #: The command that starts it.
    around: Sequence[str] = ()


def _user(engine: Engine) -> str:
    """Return ``uid:gid`` inside of whoever owns the tree outside, but never root's."""
    if engine.is_rootless and not engine.is_podman:
        # Root there is this user, and has no more rights than that.
        return "0:0"
    uid, gid = os.getuid(), os.getgid()
    return f"{uid}:{gid}" if uid else f"{_USER}:{_USER}"
