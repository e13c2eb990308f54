"""What a gate is: it looks at a tree with a tool, and says whether that will do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Protocol

from pytest_codegenie.harness.foundry.gates.site import GateSite


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """What a gate said."""

    passed: bool
    #: Why it did not pass, in a sentence; "" where it did.
    reason: str = ""
    #: JSON-like, one for each thing found: ``message``, and ``path``, ``line``, ...
    findings: tuple[dict[str, Any], ...] = ()


class Gate(Protocol):
    """One gate beside tests, coverage and pylint.

    It is made without arguments, by the hook ``pytest_codegenie_gates``.
    """

    @property
    def name(self) -> str:
        """As in ``gates`` of ``harness.yaml``."""
        ...

    @property
    def packages(self) -> tuple[str, ...]:
        """What the project's environment needs for it, as pip installs it."""
        ...

    @property
    def modules(self) -> tuple[str, ...]:
        """What has to be importable there; looked for before an agent is started."""
        ...

    def check(self, site: GateSite) -> GateOutcome:
        """Look at the tree.

        Raises:
            ToolFailed: The tool crashed, ran out of time or is not there: the gate
                failed, and the reason says why.
        """
        ...
