"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

# pytester forgets what is imported in a session that it runs; docker-py's errors have
# to stay the classes that the connection knows, and NumPy can be loaded only once.
import docker.errors  # noqa: F401
import pytest
import scipy.special  # noqa: F401
import scipy.stats  # noqa: F401
from support import Bench


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of what fills a line of the table of workspaces."""
    config.addinivalue_line(
        "markers",
        "isolates(what, open_in): tries to do what a workspace may prevent, and can in "
        "those that are named",
    )


@pytest.fixture(autouse=True)
def quiet_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """80 columns, no colours, nothing of the user's or of a CI's settings."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    for name in (
        *("PY_COLORS", "FORCE_COLOR", "NO_COLOR", "PYTEST_ADDOPTS"),
        # Pytest says more where it finds one of these.
        *("CI", "BUILD_NUMBER"),
        "GITHUB_STEP_SUMMARY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty, signed task class ``demo-task`` in ``tmp_path/bench``."""
    return Bench(tmp_path / "bench")


@pytest.fixture(params=[[], ["-n", "2"]], ids=["serial", "xdist"])
def plugin_args(request: pytest.FixtureRequest) -> list[str]:
    """Run a test once without and once with xdist."""
    arguments: list[str] = request.param
    return arguments
