"""The parts of all installed plugins, for commands that run no session."""

from __future__ import annotations

import pytest

from pytest_codegenie.errors import ConfigError
from pytest_codegenie.models import PartTable
from pytest_codegenie.session.settings import BuiltinParts
from pytest_codegenie.session.settings import gather_parts


class _Reader:
    """Asks the plugins that pytest loads here, then ends that pytest."""

    def __init__(self) -> None:
        self.parts: PartTable | None = None
        self.error: ConfigError | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        config.pluginmanager.register(BuiltinParts(), "codegenie-parts")
        try:
            self.parts = gather_parts(config.hook)
        except ConfigError as exc:
            self.error = exc
        return 0


def installed_parts(*, conftests: bool = True) -> PartTable:
    """Return the parts that a run in the working directory would have.

    Args:
        conftests: Those of the working directory count. Not where an agent may have
            written them: they are code that runs here.

    Raises:
        ConfigError: The plugins contradict one another, or pytest cannot start here.
    """
    reader = _Reader()
    try:
        # That this package is imported already is no fault, though a project may have
        # all warnings be errors.
        code = pytest.main(
            [
                *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
                *([] if conftests else ["--noconftest"]),
            ],
            plugins=[reader],
        )
    except Exception as exc:
        # A plugin's, or a warning of its that is an error here.
        raise ConfigError(
            "pytest", "", f"cannot start here: {type(exc).__name__}: {exc}"
        ) from exc
    if reader.error is not None:
        raise reader.error
    if reader.parts is None:
        raise ConfigError("pytest", "", f"cannot start here (exit code {int(code)})")
    return reader.parts
