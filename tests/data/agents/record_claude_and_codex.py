"""Records the samples in claude-code/ and codex/ from real runs of the programs.

    CODEGENIE_TEST_AGENTS=DIR PYTHONPATH=tests python \
        tests/data/agents/record_claude_and_codex.py

A scripted server plays the model, and all runs are made in the workspace ``sandbox``,
so that no sample has a path of the machine. Texts of the programs' own (prompts, lists
of tools) are cut or left out.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_server import ModelServer
from model_server import Tokens
from model_server import Turn
from real_agents import CANARY
from real_agents.claude_code import CLAUDE_CODE
from real_agents.codex import CODEX
from real_agents.describing import RealAgent
from support import FIX
from support import Bench

HERE = Path(__file__).parent
TOKENS = Tokens(1000, 50, 200, 300)
LATE = Turn("Late.", pause_seconds=60)


class Helped(ModelServer):
    """Plays the helper too, whose first message says who it is."""

    def choose(self, kind: str, body: Any, raw: str) -> tuple[str, Turn]:
        if "You are the helper" in json.dumps(body["messages"][0]):
            if "tool_result" in raw:
                return "h1", Turn("It lacks 32.", tokens=Tokens(500, 5))
            tools = [("Bash", {"command": "ls", "description": "List"})]
            return "h0", Turn("Look.", tools, Tokens(500, 5))
        return super().choose(kind, body, raw)


def shorten(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) < 400 else value[:100] + " [...]"
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item) for item in value[:30]]
    return value


def keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for line in text.splitlines():
        try:
            value = shorten(json.loads(line))
        except ValueError:
            continue
        if "attachment" in value:
            continue
        line = json.dumps(value, ensure_ascii=False)
        assert "/tmp/" not in line.replace("/tmp/claude", ""), line
        assert CANARY not in line
        lines.append(line + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def record(
    agent: RealAgent,
    name: str,
    turns: Sequence[Turn],
    *,
    limit: float = 60,
    server: type[ModelServer] = ModelServer,
    **options: Any,
) -> None:
    os.environ[agent.key_variable] = CANARY
    with tempfile.TemporaryDirectory() as place, server(turns) as model:
        bench = Bench(Path(place, "bench"))
        bench.case()
        result = bench.run(
            agent=agent.name,
            options={"program": str(agent.path()), **agent.options(model), **options},
            workspace="sandbox",
            run_directory=Path(place, "run"),
            artifacts_path="case",
            timeout_seconds=limit,
        )
        assert result.output is not None
        target = HERE / agent.name / name
        shutil.rmtree(target, ignore_errors=True)
        keep(target / "stdout.jsonl", result.output.agent.stdout)
        for file in sorted(Path(place, "run/case/records").rglob("*.jsonl")):
            part = "helper" if "subagents" in file.parts else "session"
            keep(target / f"{part}.jsonl", file.read_text("utf-8"))
    print(agent.name, name, result.outcome, result.message)


def claude() -> None:
    read = Turn("Look.", [("Read", {"file_path": "thermometer.py"})], TOKENS)
    words = {"old_string": "9 / 5\n", "new_string": "9 / 5 + 32\n"}
    edit = ("Edit", {"file_path": "thermometer.py", **words})
    check = ("Bash", {"command": "git diff --stat", "description": "Check"})
    fix = [read, Turn("Edit.", [edit, check], TOKENS), Turn("Fixed.", tokens=TOKENS)]
    asks = {"description": "Look", "prompt": "You are the helper."}
    asks["subagent_type"] = "general-purpose"
    record(CLAUDE_CODE, "fixed", fix)
    record(
        CLAUDE_CODE, "refused", fix, permissions="default", allowed_tools=["Read"]
    )
    record(CLAUDE_CODE, "error", [read, Turn(status=500)])
    record(CLAUDE_CODE, "ended", [read, LATE], limit=5)
    record(CLAUDE_CODE, "retrying", [read, Turn(status=500)], limit=6, retries=30)
    record(CLAUDE_CODE, "turns", fix, max_turns=1)
    record(CLAUDE_CODE, "cost", fix, max_cost_usd=0.001)
    turns = [Turn("Ask.", [("Agent", asks)]), Turn("Thanks.")]
    record(CLAUDE_CODE, "helper", turns, server=Helped)


def codex() -> None:
    read = Turn("Look.", [("exec_command", {"cmd": "cat thermometer.py"})], TOKENS)
    check = ("exec_command", {"cmd": "sleep 0.3; git diff --stat"})
    edit = Turn("Edit.", [("exec_command", {"cmd": FIX}), check], TOKENS)
    fix = [read, edit, Turn("Fixed.", tokens=TOKENS)]
    record(CODEX, "fixed", fix)
    record(CODEX, "broken-sandbox", fix, permissions="workspace-write")
    record(CODEX, "error", [read, Turn(status=500)])
    record(CODEX, "ended", [read, LATE], limit=5)
    record(CODEX, "retrying", [read, Turn(status=500)], limit=6, retries=30)


if __name__ == "__main__":
    claude()
    codex()
