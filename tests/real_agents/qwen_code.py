"""Qwen Code, which wants absolute paths where it edits with its own tools."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    return {"model": "fake", "base_url": f"{server.url}/v1"}


def _shell(command: str) -> tuple[str, dict[str, object]]:
    return "run_shell_command", {"command": command, "is_background": False}


def _fix(edit: Edit) -> list[Turn]:
    return [
        Turn("Look.", [_shell(f"cat {edit.path}")]),
        Turn("Edit.", [_shell(edit.command)]),
        Turn("Fixed."),
    ]


QWEN_CODE = RealAgent(
    name="qwen-code",
    program="qwen/node_modules/.bin/qwen",
    key_variable="OPENAI_API_KEY",
    options=_options,
    fix=_fix,
    version="0.15.10",
    reports_cost=False,
    patience_seconds=30.0,
    limits={"max_turns": (1, "turns")},
)
