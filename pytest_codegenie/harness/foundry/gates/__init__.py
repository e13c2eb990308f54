"""Gates: what a step's code has to pass before it is taken."""

from __future__ import annotations

from pytest_codegenie.harness.foundry.gates.protocol import Gate as Gate
from pytest_codegenie.harness.foundry.gates.protocol import GateOutcome as GateOutcome
from pytest_codegenie.harness.foundry.gates.site import GateSite as GateSite
from pytest_codegenie.harness.foundry.gates.site import ToolFailed as ToolFailed
