"""How tests describe an agent that they start for real."""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from model_server import Turn


@dataclass(frozen=True)
class Edit:
    """One replacement in a file, and a command that tells whether it is right."""

    path: str
    old: str
    new: str

    @property
    def command(self) -> str:
        """A shell command that does it."""
        return f"sed -i 's,{self.old},{self.new},' {self.path}"


@dataclass(frozen=True)
class RealAgent:
    """How tests run one agent."""

    name: str
    #: Below the directory that it is installed in.
    program: str
    #: The variable that holds its key.
    key_variable: str
    #: Options by the server.
    options: Callable[[ModelServer], Mapping[str, Any]]
    #: The model's answers: it reads, edits and says that it is done. ``{tree}`` in
    #: arguments is not filled in: paths are relative, or the script finds out.
    fix: Callable[[Edit], Sequence[Turn]]
    #: What it says of its version holds this.
    version: str
    #: The server gives the next answer to each question (for agents without tools).
    counting: bool = False
    #: What the agent reports for ``fix`` with the default tokens; None: nothing.
    reports_cost: bool = True
    #: The same case makes it ask the same questions.
    repeats_itself: bool = True
    #: It writes what it used down while it works.
    tells_early: bool = True
    #: Long enough for it to come to its second question.
    patience_seconds: float = 10.0
    #: Limits of its own that a test tries: option to value, and what ``stopped_by`` is.
    limits: Mapping[str, tuple[Any, str]] = field(default_factory=dict)

    def path(self) -> Path:
        """Return the program; skip the test where it is not installed."""
        place = os.environ.get("CODEGENIE_TEST_AGENTS", "")
        found = Path(place, self.program)
        if not place or not found.exists():
            pytest.skip(
                f"{self.name} is not installed for tests; install it: .ci/agents DIR, "
                "and set CODEGENIE_TEST_AGENTS=DIR"
            )
        return found
