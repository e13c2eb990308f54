"""What a workspace is: a place with a copy of the repository where programs run."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Literal
from typing import Protocol
from typing import runtime_checkable

from pytest_codegenie.models import DockerSettings
from pytest_codegenie.models import ResourceLimits
from pytest_codegenie.models import SandboxSettings
from pytest_codegenie.processes import Completed
from pytest_codegenie.processes import Limits


#: ``setup`` installs and may reach the network; ``agent`` reaches what the agent
#: declares; ``judge`` reaches nothing.
Phase = Literal["setup", "agent", "judge"]


@dataclass(frozen=True, slots=True)
class Base:
    """The code that a case starts from; read-only."""

    #: The files.
    tree: Path
    #: A git directory with exactly one commit, of exactly these files.
    git_dir: Path


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a case's code needs to run: ``[environment]`` of ``task.toml``."""

    #: The repository's files, as the case starts from them.
    tree: Path
    #: ``owner/project``; known ones have hints.
    repository: str
    #: ``major.minor``; "": any.
    python: str = ""
    #: Commands, or who decides on them.
    install: Literal["auto", "none"] | tuple[str, ...] = "none"
    #: Installed beside, for tools that look at the code.
    packages: tuple[str, ...] = ()
    #: For containers; "": the run's.
    image: str = ""
    #: For containers, instead of an image; its directory is the build's context.
    dockerfile: Path | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the packages are that a case's code runs with; shared, read-only."""

    #: The interpreter, as programs inside of the workspace name it.
    python: str
    #: Made for the case: what is installed in it is meant for the case's tests. If
    #: not, it is whatever runs us, and pytest is all that is taken from it.
    own: bool = False
    #: What lies on the host and has to be there inside too, by the same path.
    directories: tuple[Path, ...] = ()
    #: Directories of the tree that modules are imported from: "" is its root.
    roots: tuple[str, ...] = ()
    #: Files that installing the project made in the tree (a version module, compiled
    #: extensions); they belong to what a case starts from. None: there are none.
    generated: Path | None = None
    #: Added to what programs inside get.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Of a container; "" elsewhere.
    image: str = ""
    #: Where the tree is in a container; "": at the workspace's usual place.
    directory: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceSpec:
    """What is asked of a workspace beside its content."""

    #: An empty directory of the host for all that the workspace needs.
    directory: Path
    #: Where environments are kept for later runs; made when it is needed.
    cache: Path
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    docker: DockerSettings = field(default_factory=DockerSettings)
    #: ``host:port`` that is reached in the phase ``agent``.
    endpoints: tuple[str, ...] = ()
    #: Where the agent is installed on the host.
    readable: tuple[Path, ...] = ()
    #: What must not be seen inside, where it would be: the corpus, the run store.
    hidden: tuple[Path, ...] = ()
    #: Seconds that building an environment may take.
    setup_seconds: float = 1800.0
    #: Labels what a killed run leaves behind.
    run_id: str = ""


class Workspace(Protocol):
    """One place, used once: configure, provide, prepare, work, destroy.

    Whatever runs inside is not trusted, and neither is what it leaves: a method that
    reads or writes the tree follows no link out of it and runs nothing from it.
    """

    #: As in ``--codegenie-workspace``.
    name: str
    #: One line for the header: what is isolated here, and what is not.
    isolation: str
    #: The tree's directory on the host.
    tree: Path
    #: A directory beside the tree, for requests, prompts and reports; writable inside.
    scratch: Path
    #: The home directory of what runs inside, on the host; empty once prepared.
    home: Path
    #: Programs of this machine can be started inside, by the same paths, where
    #: ``WorkspaceSpec.readable`` lists what they consist of.
    shares_programs: bool
    #: What programs run with; valid once prepared.
    environment: Environment

    def probe(self) -> str:
        """Return "" if the workspace works on this machine, or else why not."""
        ...

    def configure(self, spec: WorkspaceSpec) -> None:
        """Take what is asked for; this comes first and starts nothing.

        Raises:
            WorkspaceUnavailable: It cannot be given here.
        """
        ...

    def provide(self, recipe: Recipe) -> Environment:
        """Return the environment of a recipe, built once for all who ask for it.

        Raises:
            WorkspaceUnavailable: It cannot be built; the last lines of the output and
                the command are in the message.
        """
        ...

    def prepare(self, base: Base, environment: Environment) -> None:
        """Make the tree from ``base``, with a git repository of its one commit.

        Raises:
            WorkspaceUnavailable: It could not be made. An error, never a fail.
        """
        ...

    def inside(self, path: Path) -> str:
        """Return how programs inside name a path in tree, scratch or home."""
        ...

    def variables(self, phase: Phase) -> dict[str, str]:
        """Return the environment variables that a program in that phase starts from."""
        ...

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
        """Run a program in the tree to its end; nothing that it started lives on.

        Args:
            argv: The program, looked up on ``env``'s PATH, and its arguments; paths
                as programs inside name them.
            phase: Decides what may be reached over the network.
            env: Its whole environment.
            limits: Of time and output; those of the spec hold too.
            stdin_path: On the host; what it reads. None: nothing.
            log_path: On the host; gets its output while it runs.

        Raises:
            NotStarted: There is no such program, or it may not be executed.
            WorkspaceUnavailable: The place itself broke.
        """
        ...

    def put(self, files: Mapping[str, Path | None]) -> None:
        """Write files into the tree; None removes what is there.

        Args:
            files: POSIX path relative to the tree to the file or link to copy.
        """
        ...

    def apply_patch(self, patch: str) -> tuple[bool, str]:
        """Apply a git diff to the tree, all of it or nothing: (success, output)."""
        ...

    def diff(self, output: Path) -> str:
        """Return how the tree differs from the base, as a git diff; "" if it does not.

        Args:
            output: Gets the diff too; it is left there when it is too large.

        Raises:
            PatchTooLarge: It exceeds what is judged.
            WorkspaceUnavailable: Git could not read the tree.
        """
        ...

    def destroy(self) -> None:
        """Remove everything, whatever modes the files have. Never raises."""
        ...


@runtime_checkable
class HasImages(Protocol):
    """A workspace of containers: an image may hold the code that a case starts from.

    What has its place in the image's own file system, such as tests that are run as
    ``/tests/test.sh``, can be shown there.
    """

    def take_tree(
        self, environment: Environment, directory: str, target: Path
    ) -> Environment:
        """Copy a directory of an environment's image to ``target``, a new directory.

        Links stay as they are. What git never records, ``.git``, is left out.

        Args:
            environment: As ``provide`` gave it.
            directory: An absolute path; "": the image's working directory.
            target: On the host.

        Returns:
            The same environment, with the tree at that directory.

        Raises:
            WorkspaceUnavailable: There is no such directory, or it cannot be a tree.
        """
        ...

    def show(self, inside: str, source: Path | None) -> Path:
        """Show a directory to the programs that are started from now on.

        Args:
            inside: Its absolute path for them.
            source: What it holds, which they cannot change; None: nothing, and they
                may write to it.

        Returns:
            The directory on the host; a copy of ``source``.
        """
        ...


class PatchTooLarge(Exception):
    """The diff is larger than what is judged: (bytes, limit in bytes)."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(size, limit)
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        return f"the patch has {self.size} bytes; at most {self.limit} are judged"
