"""The reporter ``json``: counts, figures and what the tests said, for programs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from pytest_codegenie.evidence import Group
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import make_summaries
from pytest_codegenie.evidence.statistics import TrialFigures
from pytest_codegenie.reporters.protocol import Form


class JsonReporter:
    """One object; ``figures`` and ``summaries`` for each task class and agent."""

    name = "json"
    suffix = "json"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield the object."""
        overview = run.overview()
        summaries = make_summaries(run.record.run_id, run.results())
        report = {
            "run_id": run.record.run_id,
            "started_at": run.record.started_at.isoformat(),
            "ended_at": overview.ended_at and overview.ended_at.isoformat(),
            "finished": not overview.shortfall,
            "selected": overview.selected,
            "without_result": list(overview.missing),
            "versions": run.record.versions,
            "figures": [_figures(group) for group in overview.groups],
            "summaries": [summary.to_dict() for summary in summaries],
        }
        yield json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _figures(group: Group) -> dict[str, Any]:
    bound, trials = group.bound(), group.trial_figures()
    return {
        "task_class": group.task_class,
        "agent": group.agent,
        "cases": len(group.digests),
        "passed": group.passed,
        "failed": group.failed,
        "errors": group.errors,
        "ambiguous": group.ambiguous,
        "provenance": _provenance(group),
        "mean_score": group.mean_score,
        "score_stddev": group.score_stddev,
        "lower_bound_95": bound.value,
        "lower_bound_note": bound.note,
        "trials": trials and _plain(trials),
    }


def _provenance(group: Group) -> dict[str, int]:
    """Return how many results come from where."""
    ran = group.results - group.recalled.total()
    return {"run": ran, **dict(sorted(group.recalled.items()))}


def _plain(trials: TrialFigures) -> dict[str, Any]:
    return dataclasses.asdict(trials) | {"flip_share": trials.flip_share}
