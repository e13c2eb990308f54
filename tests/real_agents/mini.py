"""mini-swe-agent, which has one tool, a shell."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    return {
        "model": "openai/fake",
        "base_url": f"{server.url}/v1",
        "prices": {"input": 3, "output": 15},
        "attempts": 2,
    }


def _fix(edit: Edit) -> list[Turn]:
    done = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    return [
        Turn("Look.", [("bash", {"command": f"cat {edit.path}"})]),
        Turn("Edit.", [("bash", {"command": edit.command})]),
        Turn("Fixed.", [("bash", {"command": done})]),
    ]


MINI = RealAgent(
    name="mini-swe-agent",
    program="mini/bin/mini",
    key_variable="OPENAI_API_KEY",
    options=_options,
    fix=_fix,
    version="2.4.6",
    patience_seconds=15,
    limits={"max_turns": (2, "turns"), "max_cost_usd": (0.001, "cost")},
)
