"""A bench of one case, in a directory of its own."""

from __future__ import annotations

import pytest

from pytest_codegenie.cli import main


pytest_plugins = ["pytester"]


@pytest.fixture
def bench(pytester: pytest.Pytester) -> pytest.Pytester:
    """A directory with ``bench/demo`` and one case in it."""
    assert main(["new", "task-class", "demo"]) == 0
    assert main(["new", "case", "demo/thermometer"]) == 0
    return pytester
