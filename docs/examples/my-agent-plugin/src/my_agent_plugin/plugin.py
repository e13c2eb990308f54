"""What pytest loads: names of parts, and where they are."""

from __future__ import annotations


def pytest_codegenie_agents() -> dict[str, str]:
    """Return the agent."""
    return {"my-agent": "my_agent_plugin.agent:MyAgent"}


def pytest_codegenie_reporters() -> dict[str, str]:
    """Return the reporter."""
    return {"badge": "my_agent_plugin.reporter:BadgeReporter"}
