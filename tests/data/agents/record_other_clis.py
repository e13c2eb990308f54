"""Records the samples in opencode/, qwen-code/, gemini-cli/ and pi/ from real runs.

    CODEGENIE_TEST_AGENTS=DIR PYTHONPATH=tests python \
        tests/data/agents/record_other_clis.py [NAME ...]

A scripted server plays the model, and all runs are made in the workspace ``sandbox``,
so that no sample has a path of the machine. Long texts of the programs' own are cut.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_server import ModelServer
from model_server import Tokens
from model_server import Turn
from real_agents import CANARY
from real_agents.describing import Edit
from real_agents.describing import RealAgent
from real_agents.gemini_cli import GEMINI_CLI
from real_agents.opencode import OPENCODE
from real_agents.pi import PI
from real_agents.qwen_code import QWEN_CODE
from support import Bench


HERE = Path(__file__).parent
EDIT = Edit("thermometer.py", "9 / 5", "9 / 5 + 32")
TOKENS = Tokens(1000, 50, 200)
LATE = Turn("Late.", pause_seconds=60)
HELPER = "You are the helper"


class Helped(ModelServer):
    """Plays the helper too, whose first message says who it is."""

    def choose(self, kind: str, body: Any, raw: str) -> tuple[str, Turn]:
        told = [m for m in body.get("messages", []) if m["role"] == "user"]
        if any(HELPER in json.dumps(one) for one in told):
            return "h0", Turn("It lacks 32.", tokens=Tokens(500, 5))
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
    lines = []
    for line in text.splitlines():
        if line.startswith("{"):
            value = shorten(json.loads(line))
            lines.append(json.dumps(value, ensure_ascii=False) + "\n")
        elif "_modules/" not in line:
            lines.append(line[:1000] + "\n")
    whole = "".join(lines)
    assert CANARY not in whole
    assert "/tmp/" not in whole.replace("/tmp/gemini-client-error", ""), path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(whole, encoding="utf-8")


def record(
    agent: RealAgent,
    name: str,
    turns: Sequence[Turn],
    *,
    limit: float = 100,
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
        keep(target / "stdout.txt", result.output.agent.stdout)
        keep(target / "stderr.txt", result.output.agent.stderr)
        records = Path(place, "run/case/records")
        for file in sorted(path for path in records.rglob("*") if path.is_file()):
            keep(target / "records" / file.name, file.read_text("utf-8"))
        questions = len(model.questions())
    print(agent.name, name, questions, result.outcome, result.message)
    print(result.output.agent.metadata)


def script(agent: RealAgent) -> list[Turn]:
    return [Turn(one.text, one.tools, TOKENS) for one in agent.fix(EDIT)]


def all_of(agent: RealAgent, **limits: Any) -> None:
    look, *rest = script(agent)
    record(agent, "fixed", [look, *rest])
    record(agent, "refused", [look, Turn(status=400)])
    record(agent, "ended", [look, LATE], limit=30)
    record(agent, "retrying", [Turn(status=500)], limit=15)
    if limits:
        record(agent, "turns", [look], **limits)


def helped(agent: RealAgent, tool: str) -> None:
    words = {"description": "Look", "prompt": f"{HELPER}: look at thermometer.py."}
    asks = Turn("Ask.", [(tool, {**words, "subagent_type": "general"})])
    if agent is QWEN_CODE:
        asks = Turn("Ask.", [(tool, {**words, "subagent_type": "general-purpose"})])
    record(agent, "helper", [asks, Turn("Thanks.")], server=Helped)


def main(names: Sequence[str]) -> None:
    if "opencode" in names:
        all_of(OPENCODE)
        helped(OPENCODE, "task")
        record(OPENCODE, "asked", script(OPENCODE), permissions={"edit": "ask"})
    if "qwen-code" in names:
        all_of(QWEN_CODE, max_turns=1)
        helped(QWEN_CODE, "agent")
    if "gemini-cli" in names:
        all_of(GEMINI_CLI, max_turns=1)
    if "pi" in names:
        all_of(PI)
        look, *rest = script(PI)
        cut = Turn(look.text, look.tools, TOKENS, cut_after=2, times=1)
        record(PI, "cut", [cut, *rest])


if __name__ == "__main__":
    main(sys.argv[1:] or ["opencode", "qwen-code", "gemini-cli", "pi"])
