"""The agent ``nop``: does nothing. It shows that cases cannot be had for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_codegenie.agents.protocol import check_option_names
from pytest_codegenie.models import AgentOutput
from pytest_codegenie.models import EvalInstance


class NopAgent:
    """Answers with no change."""

    name = "nop"
    deterministic = True
    sees_answers = False

    def configure(self, options: Mapping[str, Any]) -> None:
        """Take no options."""
        check_option_names(self.name, options, ())

    def version(self) -> str | None:
        """Return None: there is nothing to have a version."""
        return None

    def find_patch(self, instance: EvalInstance) -> AgentOutput:
        """Return an empty patch."""
        return AgentOutput(instance_id=instance.instance_id, agent_name=self.name)
