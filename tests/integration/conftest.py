"""Fixtures for tests that run whole sessions and commands."""

from __future__ import annotations

import pytest
from integration.sessions import Project


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A directory with a bench that has no case yet."""
    # It imports all of hypothesis at the end of every session: seconds for nothing.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    return Project(pytester)
