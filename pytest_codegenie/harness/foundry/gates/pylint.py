"""Pylint's score of src/."""

from __future__ import annotations

import json
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from pytest_codegenie.harness.foundry.gates.site import GateSite
from pytest_codegenie.harness.foundry.gates.site import ToolFailed
from pytest_codegenie.harness.foundry.gates.site import last_words


_TOLD_MESSAGES = 50
#: Bits of its exit code that say that it was not used rightly, or crashed.
_USAGE, _FATAL = 32, 1


@dataclass(slots=True)
class PylintOutcome:
    """What pylint said."""

    #: 10 at best; 0.0 where there is none.
    score: float = 0.0
    #: Why there is no score; none: there is one.
    reasons: list[str] = field(default_factory=list)
    #: ``path``, ``line``, ``symbol``, ``message`` of the first messages.
    messages: list[dict[str, Any]] = field(default_factory=list)


def run_pylint(site: GateSite) -> PylintOutcome:
    """Run pylint on src/, with the project's own settings.

    Whatever keeps it from saying anything is a reason; nothing is raised.
    """
    outcome = PylintOutcome()
    try:
        _run(site, outcome)
    except ToolFailed as exc:
        outcome.reasons.append(exc.reason)
    return outcome


def _run(site: GateSite, outcome: PylintOutcome) -> None:
    if not any((site.tree / "src").rglob("*.py")):
        raise ToolFailed("src/ has no Python file for pylint")
    report = site.new_directory() / "pylint.json"
    done = site.run_module(
        "pylint",
        f"--output-format=json2:{site.inside(report)}",
        "--persistent=n",
        "--recursive=y",
        "--score=y",
        # So that it says where it was told to look away.
        "--enable=file-ignored",
        "src",
    )
    try:
        found = json.loads(site.read(report))
        score = float(found["statistics"]["score"])
        messages = [_message(one) for one in found["messages"]]
    except (ValueError, KeyError, TypeError):
        raise ToolFailed(
            f"pylint ended with exit code {done.exit_code} and left no report: "
            f"{last_words(done)}"
        ) from None
    outcome.messages = messages[:_TOLD_MESSAGES]
    if done.exit_code & (_USAGE | _FATAL) or done.exit_code < 0:
        raise ToolFailed(
            f"pylint could not check all of src/ (exit code {done.exit_code}): "
            f"{_fatal(messages) or last_words(done)}"
        )
    skipped = [one["path"] for one in messages if one["symbol"] == "file-ignored"]
    if skipped:
        raise ToolFailed(f"pylint was told to skip {', '.join(skipped)}")
    outcome.score = score


def _message(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": str(one["path"]),
        "line": int(one["line"]),
        "type": str(one["type"]),
        "symbol": str(one["symbol"]),
        "message": str(one["message"]),
    }


def _fatal(messages: list[dict[str, Any]]) -> str:
    found = (one for one in messages if one["type"] == "fatal")
    return next((f"{one['path']}: {one['message']}" for one in found), "")
