"""What a build may take: retries of a prompt, tries of all, and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_codegenie.errors import relative
from pytest_codegenie.harness.foundry.build_settings import BuildSettings
from pytest_codegenie.harness.foundry.instructions import title_of
from pytest_codegenie.harness.foundry.project import Project
from pytest_codegenie.harness.foundry.records import BuildLimits
from pytest_codegenie.harness.foundry.records import BuildState
from pytest_codegenie.harness.foundry.results import BuildStopped


class Allowance:
    """Says what is allowed, and when it is used up.

    Args:
        project: Whose ``harness.yaml`` has limits.
        settings: What is said of the build counts more.
    """

    def __init__(self, project: Project, settings: BuildSettings) -> None:
        self._project = project
        self._max_retries = settings.max_retries
        self._place = relative(project.path)
        keys = ("max_retries", "max_iterations", "max_cost_usd")
        given = {key: getattr(settings, key) for key in keys}
        told = {key: value for key, value in given.items() if value is not None}
        self.limits: BuildLimits = project.harness.limits.model_copy(update=told)

    def retries_of(self, prompt: Mapping[str, Any]) -> int:
        """Return how many tries a prompt has beside its first."""
        own = prompt["metadata"].get("max_retries")
        if self._max_retries is not None or own is None:
            return self.limits.max_retries
        return int(own)

    def check(self, prompt: Mapping[str, Any], state: BuildState) -> None:
        """Stop where a prompt, the build or its cost has reached what is allowed.

        Raises:
            BuildStopped: It has.
        """
        self._check_retries(prompt, state)
        if state.iterations >= self.limits.max_iterations:
            raise BuildStopped(
                "iterations",
                f"{state.iterations} tries were made of all prompts together, and no "
                "more are allowed (max_iterations)",
                f"give it more: codegenie build {self._place} --max-iterations "
                f"{state.iterations + 10}",
            )
        cap = self.limits.max_cost_usd
        if cap is not None and state.cost_usd >= cap:
            raise self.cost_reached(state)

    def _check_retries(self, prompt: Mapping[str, Any], state: BuildState) -> None:
        allowed = self.retries_of(prompt)
        failed = state.retries.get(prompt["id"], 0)
        if failed > allowed:
            tries = relative(self._project.work / "tries")
            raise BuildStopped(
                "retries",
                f"{title_of(prompt)}: {failed} tries failed, and {allowed} retries are "
                "allowed",
                f"see why in {tries}; give it more: codegenie build {self._place} "
                f"--max-retries {failed + 2}; or change src/ and tests/ by hand, and "
                "build again with one more",
            )

    def cost_reached(self, state: BuildState) -> BuildStopped:
        """Return what ends a build that has cost what it may."""
        cost, cap = state.cost_usd, self.limits.max_cost_usd
        return BuildStopped(
            "cost",
            f"the build has cost {cost:.4f} USD, and {cap:g} are allowed "
            "(max_cost_usd)",
            f"allow more: codegenie build {self._place} --max-cost-usd "
            f"{max(cost, cap or 0) * 2:g}",
        )
