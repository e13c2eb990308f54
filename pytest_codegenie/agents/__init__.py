"""Who solves: one module an agent."""

from __future__ import annotations

from pytest_codegenie.agents.protocol import Agent as Agent
from pytest_codegenie.agents.protocol import AgentAdapter as AgentAdapter
from pytest_codegenie.agents.protocol import InstalledAgent as InstalledAgent
from pytest_codegenie.agents.protocol import LimitsCost as LimitsCost
from pytest_codegenie.agents.protocol import PatchAgent as PatchAgent
from pytest_codegenie.agents.protocol import ReadsFiles as ReadsFiles
from pytest_codegenie.agents.protocol import RunsSolutions as RunsSolutions
from pytest_codegenie.agents.protocol import TellsUsage as TellsUsage
from pytest_codegenie.agents.protocol import Usage as Usage
from pytest_codegenie.agents.protocol import default_prompt as default_prompt
