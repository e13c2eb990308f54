"""Claude Code, which speaks Anthropic Messages."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    return {"model": "claude-sonnet-4-5", "base_url": server.url, "retries": 1}


def _fix(edit: Edit) -> list[Turn]:
    # It refuses to edit a file that it has not read.
    words = {"old_string": edit.old, "new_string": edit.new}
    return [
        Turn("Look.", [("Read", {"file_path": edit.path})]),
        Turn("Edit.", [("Edit", {"file_path": edit.path, **words})]),
        Turn("Fixed."),
    ]


CLAUDE_CODE = RealAgent(
    name="claude-code",
    program="claude/node_modules/.bin/claude",
    key_variable="ANTHROPIC_API_KEY",
    options=_options,
    fix=_fix,
    version="2.1.197",
    patience_seconds=6.0,
    limits={"max_turns": (1, "turns"), "max_cost_usd": (0.001, "cost")},
)
