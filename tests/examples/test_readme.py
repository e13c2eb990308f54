"""The README keeps what it says: its commands are those that CI runs."""

from __future__ import annotations

import re
from pathlib import Path


ROOT = Path(__file__).parents[2]


def console_commands(text: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.S)
    return [line[2:] for block in blocks for line in block.splitlines()]


def test_ci_runs_the_test_command_of_the_readme_word_for_word() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [c for c in console_commands(readme) if c.endswith("pytest -n 3")]
    assert len(commands) == 1
    assert commands[0] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_first_screen_has_the_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:50]
    commands = console_commands("\n".join(first_screen))
    assert len(commands) == 2
    assert commands[0].endswith("pytest --codegenie bench/")
