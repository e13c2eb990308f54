"""What the badge says of runs."""

from __future__ import annotations

import json

import pytest
from my_agent_plugin.reporter import BadgeReporter

from pytest_codegenie.evidence import open_run
from pytest_codegenie.reporters import report_text


@pytest.mark.parametrize(
    ("agents", "message", "color"),
    [
        (["oracle", "nop"], "1 of 2", "blue"),
        (["command"], "0 of 0, 1 not judged", "lightgrey"),
    ],
)
def test_the_badge_of_a_run(
    bench: pytest.Pytester, agents: list[str], message: str, color: str
) -> None:
    bench.runpytest(
        *("--codegenie", "bench", *(f"--codegenie-agent={name}" for name in agents)),
        *("--codegenie-workspace=host", "--codegenie-run-id=first"),
    )
    run = open_run(bench.path / ".codegenie/runs/first")
    assert json.loads(report_text("badge", BadgeReporter(), run)) == {
        "schemaVersion": 1,
        "label": "bench",
        "message": message,
        "color": color,
    }
