"""What an agent is: a command line, or a source of patches."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal
from typing import Protocol
from typing import runtime_checkable

from pytest_codegenie.errors import AgentUnavailable
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance


class Agent(Protocol):
    """What all agents have in common."""

    #: As in ``--codegenie-agent``.
    name: str
    #: The same input always gives the same patch.
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

    #: ``host``: it runs on this side; ``container``: inside of the workspace.
    execution_mode: Literal["host", "container"]

    def build_command(self, instance: EvalInstance, workdir: str) -> list[str]:
        """Return the command line.

        Args:
            instance: Without the answers. ``metadata["problem_file"]`` is the path of
                a file that holds the prompt.
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

        Raises:
            AgentError: It broke in a way that says nothing about its work.
        """
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
