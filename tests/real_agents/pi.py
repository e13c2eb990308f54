"""pi, which calls tools and speaks all three dialects."""

from __future__ import annotations

from model_server import ModelServer
from model_server import Turn

from real_agents.describing import Edit
from real_agents.describing import RealAgent


def _options(server: ModelServer) -> dict[str, object]:
    prices = {"input": 3, "output": 15}
    return {"model": "fake", "base_url": f"{server.url}/v1", "prices": prices}


def _fix(edit: Edit) -> list[Turn]:
    replacement = {"oldText": edit.old, "newText": edit.new}
    return [
        Turn("Look.", [("read", {"path": edit.path})]),
        Turn("Edit.", [("edit", {"path": edit.path, "edits": [replacement]})]),
        Turn("Fixed."),
    ]


PI = RealAgent(
    name="pi",
    program="pi/node_modules/.bin/pi",
    key_variable="OPENAI_API_KEY",
    options=_options,
    fix=_fix,
    version="0.73.1",
)
