"""The reporter ``badge``: what shields.io shows as a badge in a README."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.reporters import Form


class BadgeReporter:
    """How many cases passed, and whether anything could not be judged."""

    name = "badge"
    suffix = "badge.json"

    def report(self, run: StoredRun, form: Form) -> Iterator[str]:
        """Yield the badge."""
        overview = run.overview()
        passed = sum(group.passed for group in overview.groups)
        counted = passed + sum(group.failed for group in overview.groups)
        errors = sum(group.errors for group in overview.groups)
        message = f"{passed} of {counted}"
        if errors:
            message += f", {errors} not judged"
        if overview.shortfall:
            message += ", not finished"
        sound = counted and not errors and not overview.shortfall
        badge = {
            "schemaVersion": 1,
            "label": "bench",
            "message": message,
            "color": "blue" if sound else "lightgrey",
        }
        yield json.dumps(badge) + "\n"
