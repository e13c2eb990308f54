"""opencode, which calls tools and speaks three dialects."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    prices = {"input": 3, "output": 15}
    return {"model": "fake", "base_url": f"{server.url}/v1", "prices": prices}


def _fix(edit: Edit) -> list[Turn]:
    replacement = {"oldString": edit.old, "newString": edit.new}
    return [
        Turn("Look.", [("read", {"filePath": edit.path})]),
        Turn("Edit.", [("edit", {"filePath": edit.path, **replacement})]),
        Turn("Fixed."),
    ]


OPENCODE = RealAgent(
    name="opencode",
    program="opencode/node_modules/.bin/opencode",
    key_variable="OPENAI_API_KEY",
    options=_options,
    fix=_fix,
    version="1.18.33",
    patience_seconds=20.0,
)
