"""The reporter ``jsonl``: one flat object a line for each result, for jq and others."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.reporters.protocol import Form
from pytest_codegenie.reporters.rows import flat_row


class JsonLinesReporter:
    """Results in the order in which they ended; what is unknown is null."""

    name = "jsonl"
    suffix = "jsonl"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield a line for each result."""
        for result in run.results():
            yield json.dumps(flat_row(run, result), ensure_ascii=False) + "\n"
