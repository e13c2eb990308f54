"""The reporter ``json``: the counts and what the tests said, for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import make_summaries
from pytest_codegenie.reporters.protocol import Form


class JsonReporter:
    """One object; ``summaries`` has a ``RunSummary`` for each task class and agent."""

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
            "summaries": [summary.to_dict() for summary in summaries],
        }
        yield json.dumps(report, indent=2, ensure_ascii=False) + "\n"
