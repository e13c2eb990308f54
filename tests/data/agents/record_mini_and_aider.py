"""Records the samples in mini-swe-agent/ and aider/ from real runs.

    CODEGENIE_TEST_AGENTS=DIR PYTHONPATH=tests python \
        tests/data/agents/record_mini_and_aider.py

A scripted server plays the model, and all runs are made in the workspace ``sandbox``,
so that no sample has a path of the machine. Long texts of the programs' own are cut.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_server import ModelServer
from model_server import Tokens
from model_server import Turn
from real_agents import CANARY
from real_agents.aider import AIDER
from real_agents.describing import RealAgent
from real_agents.mini import MINI
from support import FIX
from support import Bench

from pytest_codegenie.models import AgentOutput


HERE = Path(__file__).parent
TOKENS = Tokens(1000, 50, 200)
DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
EDIT = """\
Fixed.

thermometer.py
```python
<<<<<<< SEARCH
    return celsius * 9 / 5
=======
    return celsius * 9 / 5 + 32
>>>>>>> REPLACE
```
"""


def run(
    agent: RealAgent,
    turns: Sequence[Turn],
    *,
    limit: float = 120,
    counting: bool = True,
    **options: Any,
) -> tuple[Path, AgentOutput]:
    """Return the directory of its records, and its output."""
    directory = Path(tempfile.mkdtemp())
    os.chdir(directory)
    bench = Bench(directory / "bench")
    bench.case()
    with ModelServer(turns, counting=counting) as server:
        given = {"program": str(agent.path()), **agent.options(server), **options}
        result = bench.run(
            agent=agent.name,
            options=given,
            workspace="sandbox",
            run_directory=directory / "run",
            timeout_seconds=limit,
        )
    assert result.output is not None, result.message
    output = result.output.agent
    print(agent.name, result.outcome, result.message, output.metadata)
    return directory / "run" / "records", output


def keep(path: str, text: str, agent: RealAgent) -> None:
    programs = str(agent.path().parents[1])
    text = text.replace(programs, f"/opt/{agent.name}")
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8080", text)
    assert CANARY not in text
    assert "/tmp/" not in text, path
    file = HERE / agent.name / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def shorten(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= 300 else f"{value[:200]}..."
    if isinstance(value, dict):
        return {key: shorten(item) for key, item in value.items()}
    return [shorten(item) for item in value] if isinstance(value, list) else value


def mini(name: str, turns: Sequence[Turn], **options: Any) -> AgentOutput:
    records, output = run(MINI, turns, **options)
    text = (records / "mini" / "mini.traj.json").read_text(encoding="utf-8")
    short = json.dumps(shorten(json.loads(text)), indent=1)
    keep(f"{name}.traj.json", f"{short}\n", MINI)
    return output


def bash(command: str, text: str) -> Turn:
    return Turn(text, [("bash", {"command": command})], tokens=TOKENS)


def in_text(command: str, text: str) -> Turn:
    return Turn(f"{text}\n\n```mswea_bash_command\n{command}\n```")


def record_mini() -> None:
    look, fix, done = (
        bash("cat thermometer.py", "Look."),
        bash(FIX, "Edit."),
        bash(DONE, "Done."),
    )
    mini("fixed", [Turn("I think it is wrong."), look, fix, done])
    mini("responses", [fix, done], model_class="litellm_response")
    texts = [in_text(FIX, "Edit."), in_text(DONE, "Done.")]
    mini("text", texts, model_class="litellm_textbased")
    mini("turns", [bash("ls", "Look.")], max_turns=2)
    mini("refused", [bash("ls", "Look."), Turn(status=401)])
    turns = [bash("ls", "Look."), Turn(status=500)]
    output = mini("waiting", turns, attempts=10, limit=30)
    keep("waiting.out", output.stdout[output.stdout.rindex("Tool:") :], MINI)
    lines = [line for line in output.stderr.splitlines() if "Retrying" in line]
    keep("waiting.err", "\n".join(lines) + "\n", MINI)


def aider(name: str, turns: Sequence[Turn], **options: Any) -> None:
    records, _ = run(AIDER, turns, map_tokens=0, **options)
    for file in (records / "aider").iterdir():
        lines = file.read_text(encoding="utf-8").split("\n")
        if file.name == "llm.history":
            # What it says of its own, at length.
            long = ("SYSTEM ", "USER ")
            lines = [one for one in lines if len(one) < 110 or not one.startswith(long)]
        keep(f"{name}/{file.name}", "\n".join(lines), AIDER)


def record_aider() -> None:
    asks = Turn("I have to see `thermometer.py` first.")
    wrong = Turn(EDIT.replace("celsius * 9 / 5\n", "celsius * 7\n"))
    aider("fixed", [asks, Turn(EDIT)])
    aider("refused", [asks, Turn(status=401)])
    aider("reflections", [asks, *[wrong] * 5])
    aider("waiting", [Turn(status=500)], limit=14)


if __name__ == "__main__":
    os.environ[MINI.key_variable] = CANARY
    record_mini()
    record_aider()
