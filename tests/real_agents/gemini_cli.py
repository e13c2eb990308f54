"""Gemini CLI, which speaks Google's dialect alone."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    return {"model": "gemini-2.5-flash", "base_url": server.url, "attempts": 3}


def _fix(edit: Edit) -> list[Turn]:
    replacement = {
        "instruction": "Correct it.",
        "old_string": edit.old,
        "new_string": edit.new,
    }
    return [
        Turn("Look.", [("read_file", {"file_path": edit.path})]),
        Turn("Edit.", [("replace", {"file_path": edit.path, **replacement})]),
        Turn("Fixed."),
    ]


GEMINI_CLI = RealAgent(
    name="gemini-cli",
    program="gemini/node_modules/.bin/gemini",
    key_variable="GEMINI_API_KEY",
    options=_options,
    fix=_fix,
    version="0.61.0",
    reports_cost=False,
    patience_seconds=20.0,
    limits={"max_turns": (1, "turns")},
)
