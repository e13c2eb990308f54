"""The agent itself, in place of a real one: it knows how to mend one fault."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path


def say(event: str, **values: object) -> None:
    """Print a line of JSON."""
    print(json.dumps({"event": event, **values}), flush=True)


def main() -> int:
    """Read the prompt, mend the code in the working directory, tell what it did."""
    parser = argparse.ArgumentParser(prog="my-agent")
    parser.add_argument("--version", action="version", version="my-agent 1.0")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", default="small")
    parser.add_argument("--max-turns", type=int, default=10)
    options = parser.parse_args()
    prompt = sys.stdin.read()
    if os.environ.get("MY_AGENT_KEY") == "expired":
        say("error", message="401 Unauthorized")
        return 0  # as several agents do
    usage = {"input_tokens": len(prompt) // 4, "output_tokens": 20, "cost_usd": 0.0125}
    if options.max_turns < 1:
        say("max_turns", model=options.model)
        return 0
    if "Fahrenheit" in prompt:
        path = Path("thermometer.py")
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("* 9 / 5\n", "* 9 / 5 + 32\n"), encoding="utf-8")
    say("answer", text="I added the 32 degrees that were missing.")
    say("end", model=options.model, usage=usage)
    return 0
