"""Fixtures for tests that run whole sessions and commands."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest
from integration.sessions import Project
from support_warm import start_workers_warm
from support_warm import warm_python


# A session that runs in this process forgets at its end what it was the first to
# import: a quarter of a second for each. What is imported here stays.
for module in (
    "agents.command",
    "agents.nop",
    "agents.oracle",
    "cli.main",
    "evaluators.command",
    "harness.patch",
    "reporters.console",
    "session.control",
):
    importlib.import_module(f"pytest_codegenie.{module}")


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A directory with a bench that has no case yet."""
    # It imports all of hypothesis at the end of every session: seconds for nothing.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    start_workers_warm(monkeypatch)
    words = (*warm_python(), "-m", "pytest")
    monkeypatch.setattr(pytester, "_getpytestargs", lambda: words)
    return Project(pytester)


@pytest.fixture
def cold_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each process of a test start an interpreter of its own, not a fork."""
    monkeypatch.setenv("TESTS_START_COLD", "1")


@pytest.fixture(scope="session")
def kept_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where environments are kept, whichever worker a test runs on.

    For later runs too where ``CODEGENIE_TEST_CACHE`` names a directory.
    """
    kept = os.environ.get("CODEGENIE_TEST_CACHE")
    if kept:
        return Path(kept)
    place = tmp_path_factory.getbasetemp()
    return (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "cache"
