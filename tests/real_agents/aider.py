"""aider, which calls no tools: it edits by what the model's text says."""

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
        "edit_format": "diff",
        # aider asks again by itself, for 64 seconds: once each time is enough.
        "model_settings": {"extra_params": {"max_retries": 0}},
    }


def _fix(edit: Edit) -> list[Turn]:
    # Whole lines are searched for; the one in question returns the expression.
    block = [
        edit.path,
        "```python",
        "<<<<<<< SEARCH",
        f"return {edit.old}",
        "=======",
        f"return {edit.new}",
        ">>>>>>> REPLACE",
        "```",
    ]
    return [
        # It is given the files that are named, and asked again.
        Turn(f"The fault must be in `{edit.path}`."),
        Turn("\n".join(["Fixed.", "", *block])),
        Turn("Nothing more."),
    ]


AIDER = RealAgent(
    name="aider",
    program="aider/bin/aider",
    key_variable="OPENAI_API_KEY",
    options=_options,
    fix=_fix,
    version="0.86.2",
    counting=True,
    patience_seconds=15,
)
