"""What only the host workspace has: it gives an agent the user's own variables."""

from __future__ import annotations

import pytest
from support_workspaces import Lab


pytestmark = pytest.mark.parametrize("workspace_name", ["host"])


def test_no_private_variable_reaches_an_agent(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = lab.make()
    for name in ("GIT_DIR", "PYTHONPATH", "PYTEST_ADDOPTS", "CODEGENIE_OUT"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("API_TOKEN", "the agent's")
    environment = workspace.variables("agent")
    assert "secret" not in environment.values()
    assert environment["API_TOKEN"] == "the agent's"
    assert "API_TOKEN" not in workspace.variables("judge")


def test_it_says_that_nothing_is_isolated(lab: Lab) -> None:
    assert lab.make().isolation.startswith("nothing is isolated")
