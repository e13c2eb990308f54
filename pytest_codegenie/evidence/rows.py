"""Results as flat rows: what reports and data frames have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_codegenie.evidence.stored import StoredRun
from pytest_codegenie.models import CaseResult


def flat_row(run: StoredRun, result: CaseResult) -> Mapping[str, Any]:
    """Return a result's row; what is unknown is None.

    Args:
        run: The run that it is of.
        result: The result.
    """
    agent = result.output.agent if result.output else None
    return {
        "run_id": result.run_id,
        "task_class": result.task_class,
        "case_id": result.case_id,
        "disposition": result.disposition,
        "agent": result.agent,
        "trial": result.trial,
        "outcome": result.outcome,
        # An error is no score of 0: nothing was judged.
        "score": None if result.outcome == "error" else result.score.score,
        "passed": None if result.outcome == "error" else result.score.passed,
        "breakdown": dict(result.score.breakdown),
        "failure_modes": [mode.code for mode in result.score.failure_modes],
        "cost_usd": agent and agent.cost_usd,
        "tokens": agent and agent.tokens_used,
        "model": agent and agent.model_name,
        "seconds": round(sum(result.timings.values()), 6) if result.timings else None,
        "artifacts": run.artifacts(result),
        "message": result.message,
        "provenance": result.provenance,
    }
