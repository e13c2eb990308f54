"""``codegenie build status``: how far a project is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_codegenie.cli.saying import complain
from pytest_codegenie.cli.saying import say
from pytest_codegenie.cli.tables import table
from pytest_codegenie.harness.foundry.history import History
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.records import BuildState
from pytest_codegenie.harness.foundry.state_registry import StateRegistry


def show_status(project: Project) -> int:
    """Print how far a project is; return 1 where its state could not be read."""
    registry = StateRegistry(project.path)
    registry.load()
    for problem in registry.problems:
        complain(problem)
    state = registry.state
    upcoming = registry.get_next_prompt(project.prompt_ids)
    rows = [_status_row(prompt, state, upcoming) for prompt in project.prompts]
    head = ("prompt", "title", "state", "tries", "coverage", "pylint", "commit")
    for line in table(head, rows, right=("tries", "coverage", "pylint")):
        say(line)
    done = sum(one in state.completed for one in project.prompt_ids)
    cost = f", {state.cost_usd:.4f} USD" if state.cost_usd else ""
    say(f"{done} of {len(rows)} prompts complete, {state.iterations} tries{cost}")
    if state.start:
        say(f"each step: {History(project.work / 'history.git').command}")
    return 1 if registry.problems else 0


def _status_row(
    prompt: Mapping[str, Any], state: BuildState, upcoming: str | None
) -> tuple[str, ...]:
    number = prompt["id"]
    done = number in state.completed
    figures = state.gates.get(number)
    measured = figures is not None and figures.first_passed is not None
    return (
        number,
        prompt["metadata"].get("title", ""),
        "complete" if done else "next" if number == upcoming else "to do",
        str(figures.tries) if figures else "0",
        f"{figures.coverage:g}" if figures and measured else "",
        f"{figures.pylint_score:g}" if figures and measured else "",
        state.commits.get(number, "")[:12],
    )
