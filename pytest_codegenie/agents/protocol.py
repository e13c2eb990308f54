"""What an agent is: a command line, or a source of patches.

An ``AgentAdapter`` is all that a program needs. An ``InstalledAgent`` also knows how
the program is installed, what it keeps in its home and what its records say; its base
class is ``ProgramAgent`` (``base.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Literal
from typing import Protocol
from typing import runtime_checkable

from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.trajectories import Trajectory


@dataclass(frozen=True, slots=True)
class Usage:
    """What an agent says that it used by now; None where it says nothing."""

    #: Cached ones too.
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    #: As reported by the agent: prices may be made up and side requests left out.
    cost_usd: float | None = None
    #: Answers of the model.
    turns: int | None = None

    @property
    def tokens(self) -> int | None:
        """Input and output together; None where neither is known."""
        known = [n for n in (self.input_tokens, self.output_tokens) if n is not None]
        return sum(known) if known else None


class Agent(Protocol):
    """What all agents have in common."""

    #: As in ``--codegenie-agent``.
    name: str
    #: The same input always gives the same patch. With ``--codegenie-cache auto`` it is
    #: asked once then: what it depends on has to be in its version, its options and
    #: ``env``, its own module, or the files that it names (``ReadsFiles``).
    deterministic: bool

    def configure(self, options: Mapping[str, Any]) -> None:
        """Take the options of the run file.

        Raises:
            AgentUnavailable: An option is unknown or wrong; the nearest known name is
                in the message.
        """
        ...

    def version(self) -> str | None:
        """Return the agent's version; None where it cannot be told."""
        ...


@runtime_checkable
class AgentAdapter(Agent, Protocol):
    """An agent that is a program: it is started in a workspace and edits files."""

    #: ``container``: it runs inside of the workspace. ``host``: it runs on this side
    #: and edits the workspace's files from outside; nothing of it is isolated then.
    execution_mode: Literal["host", "container"]

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command line.

        Args:
            instance: Without the answers. Of its ``metadata``, ``problem_file`` is the
                path of a file that holds the prompt, ``home`` and ``scratch`` are
                directories that the agent may write to (all three as the agent sees
                them), ``timeout_seconds`` is its limit, ``workspace`` the name of the
                workspace, and ``shares_programs`` tells whether programs of this
                machine can be started there by their paths.
            workdir: The tree, as the agent sees it; also its working directory.
        """
        ...

    def build_prompt(self, instance: EvalInstance) -> str:
        """Return what the agent gets on its standard input; "" for nothing.

        The problem file holds it too, or the problem statement where it is empty.
        """
        ...

    def get_environment(self) -> dict[str, str]:
        """Return what is added to its environment; an empty string unsets."""
        ...

    def get_endpoints(self) -> tuple[str, ...]:
        """Return what it has to reach over the network, each as ``host:port``.

        A workspace that isolates gives it that and nothing else.
        """
        ...

    def get_readable(self) -> tuple[Path, ...]:
        """Return files and directories of this machine that it is installed in.

        A workspace that isolates shows them, read-only; a container has its own.
        """
        ...

    def get_timeout_seconds(self) -> float | None:
        """Return a limit of the agent's own; None: the case's."""
        ...

    def parse_output(
        self, stdout: str, stderr: str, exit_code: int, duration: float
    ) -> AgentOutput:
        """Return what the agent left; the harness fills in instance and patch.

        It is called after a time-out too. Of the output's ``metadata``, ``error`` says
        why the run says nothing of the agent's work (the model's server answered with
        errors, its own sandbox broke): the case is an ERROR then. ``stopped_by`` names
        a limit of the agent's own that ended it (``turns``, ``cost``, ``tokens``): the
        case is judged by what it left.

        Raises:
            AgentError: It broke in a way that says nothing about its work.
        """
        ...


@runtime_checkable
class InstalledAgent(AgentAdapter, Protocol):
    """A program that people install: its home, its records, what it used.

    It starts from an environment that has nothing of the user's, in a home of its own.
    The order is: configure, probe, build_*, get_*, the program runs (meanwhile
    ``read_usage`` may be asked), take_records, parse_output, get_trajectory.
    """

    def probe(self, environment: Mapping[str, str], *, shared: bool) -> str:
        """Return "" if it can be started, or else why not and what to do about it.

        Args:
            environment: All variables that it will get.
            shared: It will be started as it is installed on this machine. If not, it
                has to be installed inside, and only the variables are looked at.
        """
        ...

    def get_home_files(self, home: str) -> Mapping[str, str | Path]:
        """Return what is put into its home before it starts.

        Args:
            home: As the agent sees it.

        Returns:
            Path below the home to text, or to a file of this machine.
        """
        ...

    def get_record_patterns(self) -> tuple[str, ...]:
        """Return which files of its home tell what it did, as globs below it."""
        ...

    def read_usage(self, stdout: str, records: Mapping[str, bytes]) -> Usage:
        """Return what it used by now, from what there is by now. Never raises.

        Args:
            stdout: What it has printed; lines of stderr may stand in between.
            records: Path below its home to content; any may end in mid-line.
        """
        ...

    def take_records(self, records: Mapping[str, bytes]) -> None:
        """Take the files of ``get_record_patterns``, before ``parse_output``."""
        ...

    def get_trajectory(self) -> Trajectory | None:
        """Return what it did, after ``parse_output``; None where nobody can tell."""
        ...


@runtime_checkable
class TellsUsage(Protocol):
    """An agent that can say what it has used while it still works.

    Every ``InstalledAgent`` is one; any other adapter may be. A run that has a budget
    (``--codegenie-max-cost-usd``) counts what it says, and ends it in time.
    """

    def read_usage(self, stdout: str, records: Mapping[str, bytes]) -> Usage:
        """Return what it used by now; as ``InstalledAgent`` has it."""
        ...


@runtime_checkable
class LimitsCost(Protocol):
    """An agent that ends by itself when it has cost a certain amount.

    Any adapter may be one. Of the budget of a run as much is reserved for it, and no
    more; without the method, as much as such cases have cost before, or a share.
    """

    def get_cost_limit_usd(self) -> float | None:
        """Return the most that it may cost, as it is configured; None: anything."""
        ...


@runtime_checkable
class PatchAgent(Agent, Protocol):
    """An agent that knows its patch without being run."""

    #: It is shown the whole instance, the gold patch too. Only for the oracle.
    sees_answers: bool

    def find_patch(self, instance: EvalInstance) -> AgentOutput:
        """Return the output with its patch; "" to change nothing.

        Raises:
            AgentUnavailable: It has no answer for this instance.
        """
        ...


@runtime_checkable
class RunsSolutions(Agent, Protocol):
    """An agent that makes its patch by a case's own program, where it has one."""

    def solution_program(self, command: Sequence[str]) -> AgentAdapter:
        """Return what runs the program ``expected/solution``.

        Args:
            command: ``solution`` in ``expected/tests.toml``.
        """
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """What an agent has beside where its answers depend on files of this machine.

    For the cache: with another content of one of them, the agent is asked again.
    """

    def get_answer_files(self) -> tuple[Path, ...]:
        """Return the files, after ``configure``: their paths and contents count."""
        ...


def default_prompt(instance: EvalInstance) -> str:
    """Return the problem statement, with the hints where there are some."""
    hints = f"\n\n{instance.hints_text}" if instance.hints_text else ""
    return instance.problem_statement + hints


def check_option_names(
    agent: str, options: Mapping[str, Any], known: Iterable[str]
) -> None:
    """Refuse options that the agent does not have.

    Raises:
        AgentUnavailable: One is unknown.
    """
    known = tuple(known)
    for key in options:
        if key not in known:
            raise AgentUnavailable(
                f"agent {agent!r}: unknown option {key!r}{did_you_mean(key, known)}; "
                f"known: {', '.join(known) or 'none'}"
            )
