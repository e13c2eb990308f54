"""Codex, which speaks OpenAI Responses and edits by shell commands."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    return {"model": "fake", "base_url": f"{server.url}/v1", "retries": 1}


def _fix(edit: Edit) -> list[Turn]:
    return [
        Turn("Look.", [("exec_command", {"cmd": f"cat {edit.path}"})]),
        Turn("Edit.", [("exec_command", {"cmd": edit.command})]),
        Turn("Fixed."),
    ]


CODEX = RealAgent(
    name="codex",
    program="codex/node_modules/.bin/codex",
    key_variable="OPENAI_API_KEY",
    options=_options,
    fix=_fix,
    version="0.169.0",
    reports_cost=False,
    repeats_itself=False,
    patience_seconds=6.0,
)
