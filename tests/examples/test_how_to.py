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
        "reports",
        "write-a-rubric",
        "write-a-plugin",
        "write-a-workspace",
        "add-a-case",
        "test-runners",
    ],
)
def test_the_page_works(page: str, walk_through: Callable[[str], Path]) -> None:
    walk_through(f"how-to/{page}.md")
