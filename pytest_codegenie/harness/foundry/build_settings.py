"""What is said of one build, beside the project's own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.models import AgentSpec


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What is said of one build, beside the project's own files."""

    #: None: what ``harness.yaml`` names.
    agent: AgentSpec | None = None
    #: Instead of those of ``harness.yaml``; None: those.
    max_retries: int | None = None
    max_iterations: int | None = None
    max_cost_usd: float | None = None
    #: The last prompt that is worked on; None: the last one there is.
    until: str | None = None
    #: Forget how far the project is, and put src/ and tests/ back to what they were.
    from_scratch: bool = False
    #: Where the reference solution is; None: ``solution`` in the project.
    solution: Path | None = None
    #: Of the case that the project is; "": it is none.
    instance_id: str = ""


def prompts_to_do(project: Project, until: str | None) -> list[str]:
    """Return the ids of the prompts that a build works on.

    Raises:
        ProjectError: There is no such prompt.
    """
    known = project.prompt_ids
    if until is None:
        return known
    if until not in known:
        raise ProjectError(
            project.path / "prompt.md",
            f"has no prompt {until!r}{did_you_mean(until, known)}; it has "
            f"{known[0]} to {known[-1]}",
        )
    return known[: known.index(until) + 1]


def agent_of(project: Project) -> AgentSpec:
    """Return who works where nobody says anything else.

    Raises:
        ProjectError: ``harness.yaml`` names nobody.
    """
    wanted = project.harness.agent
    if wanted is None:
        raise ProjectError(
            project.path / "harness.yaml",
            "names no agent: add 'agent: {name: ...}', or give --agent (codegenie list "
            "agents)",
        )
    return AgentSpec(
        name=wanted.name, label=wanted.name, options=wanted.options, env=wanted.env
    )
