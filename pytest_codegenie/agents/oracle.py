"""The agent ``oracle``: hands in the reference solution. It shows that cases work."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_codegenie.agents.command import CommandAgent
from pytest_codegenie.agents.protocol import check_option_names
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance


class OracleAgent:
    """Answers with ``expected/gold.patch``, or with no change where there is none.

    Where a case has a program instead (``solution`` in ``tests.toml``), that is run.
    """

    name = "oracle"
    deterministic = True
    sees_answers = True

    def configure(self, options: Mapping[str, Any]) -> None:
        """Take no options."""
        check_option_names(self.name, options, ())

    def version(self) -> str | None:
        """Return None: the oracle is as old as its case."""
        return None

    def find_patch(self, instance: EvalInstance) -> AgentOutput:
        """Return the gold patch."""
        return AgentOutput(
            instance_id=instance.instance_id,
            agent_name=self.name,
            patch=instance.gold_patch,
        )

    def solution_program(self, command: Sequence[str]) -> CommandAgent:
        """Return what runs the program that is the reference solution."""
        program = _SolutionProgram()
        program.configure({"command": list(command), "prompt": "file"})
        return program


class _SolutionProgram(CommandAgent):
    """The case's own program: all of it is in the container."""

    def get_readable(self) -> tuple[Path, ...]:
        """Return nothing: the paths that it names are no paths of this machine."""
        return ()
