"""The how-to pages with commands in them do what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "page",
    [
        "run-an-agent",
        "run-files",
        "resume-a-run",
        "cap-the-cost",
        "reports",
        "export-a-run",
        "compare-runs",
        "re-grade-a-run",
        "gate-ci",
        "promote-an-agent",
        "anchor-the-chain",
        "write-a-rubric",
        "write-a-plugin",
        "write-a-workspace",
        "add-a-case",
        "import-a-dataset",
        "run-a-dataset-file",
        "import-swe-bench",
        "say-where-code-comes-from",
        "check-an-imported-bench",
        "import-your-own",
        "test-runners",
        "import-inspect",
        "one-file-datasets",
        "quixbugs-and-exercism",
    ],
)
def test_the_page_works(page: str, walk_through: Callable[[str], Path]) -> None:
    walk_through(f"how-to/{page}.md")
