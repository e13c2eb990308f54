"""Registers the task class spec-build."""

from __future__ import annotations

from pathlib import Path

from pytest_codegenie import register_task_class

from .rubric import SpecBuildRubric


@register_task_class(
    "spec-build",
    bench_path=Path(__file__).parent,
    min_cases_for_promotion={"bronze": 3},
)
class SpecBuild(SpecBuildRubric):
    """The rubric, under the name of the task class."""
