"""What came of a build, summed up from its state."""

from __future__ import annotations

import dataclasses

from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.allowance import Allowance
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.records import BuildState
from pytest_codegenie.harness.foundry.results import BuildResult
from pytest_codegenie.harness.foundry.results import BuildStopped


def sum_up(
    project: Project,
    state: BuildState,
    allowance: Allowance,
    stopped: BuildStopped | None = None,
) -> BuildResult:
    """Return what came of a build.

    Args:
        project: The project.
        state: How far it is.
        allowance: What the build might take.
        stopped: Why it ended early; None: it went as far as was asked for.
    """
    result = _reached(project, state, allowance)
    left = [one for one in project.prompt_ids if one not in state.completed]
    if stopped is not None:
        return dataclasses.replace(
            result,
            ended=stopped.ended,
            message=stopped.message,
            remedy=stopped.remedy,
            error=stopped.error,
        )
    if not left:
        return result
    return dataclasses.replace(
        result,
        ended="until",
        message=f"complete until {project.prompt_ids[result.completed - 1]}",
        remedy=f"go on with {left[0]}: codegenie build {relative(project.path)}",
    )


def _reached(project: Project, state: BuildState, allowance: Allowance) -> BuildResult:
    """Return what a build is that has come to its end."""
    all_ids = project.prompt_ids
    return BuildResult(
        ended="complete",
        message=f"all {len(all_ids)} prompts are complete",
        prompts=len(all_ids),
        completed=sum(one in state.completed for one in all_ids),
        tries=state.iterations,
        retries=_retries_used(state),
        retries_allowed=sum(map(allowance.retries_of, project.prompts)),
        rules_broken=state.rules_broken,
        cost_usd=state.cost_usd,
        gates={
            name: figures.model_dump(exclude={"first_passed"})
            for name, figures in state.gates.items()
        },
    )


def _retries_used(state: BuildState) -> int:
    """Return how many tries were made beside the first of each prompt."""
    # Of a prompt that is not complete, one of the tries that failed is its first.
    return sum(
        failed if prompt_id in state.completed else max(0, failed - 1)
        for prompt_id, failed in state.retries.items()
    )
