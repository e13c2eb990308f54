"""Registers the task class bug-repair."""

from __future__ import annotations

from pathlib import Path

from pytest_codegenie import register_task_class

from .rubric import BugRepairRubric


register_task_class(
    "bug-repair",
    bench_path=Path(__file__).parent,
    min_cases_for_promotion={"bronze": 5, "silver": 10},
)(BugRepairRubric)
