"""Where a case's result comes from, as its report carries it through xdist."""

from __future__ import annotations

import pytest


def provenance_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return a report's ``Provenance``; ``run`` where it says nothing."""
    properties = getattr(report, "user_properties", ())
    return str(next((v for k, v in properties if k == "provenance"), "run"))
