"""Registers the task class vuln-remediation."""

from __future__ import annotations

from pathlib import Path

from pytest_codegenie import register_task_class

from .rubric import VulnRemediationRubric


@register_task_class(
    "vuln-remediation",
    bench_path=Path(__file__).parent,
    min_cases_for_promotion={"bronze": 5, "silver": 10},
)
class VulnRemediation(VulnRemediationRubric):
    """The rubric, under the name of the task class."""
