"""The pytest door: options and registration, nothing else.

pytest loads this module in every run of everybody who has it installed. It imports
the standard library and pytest alone, and without ``--codegenie`` no hook does more
than look at one flag.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest


if TYPE_CHECKING:
    from pytest_codegenie.models import BenchCase
    from pytest_codegenie.registry import TaskClass
    from pytest_codegenie.scoring import Rubric


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks that other plugins may implement."""
    from pytest_codegenie import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of contract 4; defaults are filled in by ``RunConfig``."""
    group = parser.getgroup("codegenie", "evaluation of coding agents")
    group.addoption(
        "--codegenie",
        action="store_true",
        dest="codegenie",
        help="collect and run bench cases (bench/*/cases/*/case.toml), and only these",
    )
    group.addoption(
        "--codegenie-validate",
        action="store_true",
        dest="codegenie_validate",
        help="check the corpus instead of an agent: the oracle passes and nop fails "
        "each positive case, nop passes each negative one, three times alike",
    )
    group.addoption(
        "--codegenie-agent",
        action="append",
        dest="codegenie_agent",
        metavar="NAME[:LABEL]",
        help="agent to run; may be given several times (default: oracle)",
    )
    group.addoption(
        "--codegenie-run-file",
        dest="codegenie_run_file",
        metavar="FILE",
        help="YAML file with agents, their options, and any of these settings",
    )
    group.addoption(
        "--codegenie-workspace",
        dest="codegenie_workspace",
        metavar="auto|host|sandbox|docker|...",
        help="where agents work (default: auto, the best that works here)",
    )
    group.addoption(
        "--codegenie-trials",
        dest="codegenie_trials",
        metavar="N",
        help="run each case N times (default: 1)",
    )
    group.addoption(
        "--codegenie-timeout",
        dest="codegenie_timeout",
        metavar="SECONDS",
        help="time for the agent where case.toml says nothing (default: 600)",
    )
    group.addoption(
        "--codegenie-out",
        dest="codegenie_out",
        metavar="DIR",
        help="where runs are stored (default: .codegenie)",
    )
    group.addoption(
        "--codegenie-run-id",
        dest="codegenie_run_id",
        metavar="ID",
        help="name of this run (default: made from the time)",
    )
    group.addoption(
        "--codegenie-keep",
        dest="codegenie_keep",
        metavar="never|failed|always",
        help="keep workspaces among a case's artifacts (default: never)",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the session's part of the plugin, if it is asked for."""
    if config.option.codegenie or config.option.codegenie_validate:
        from pytest_codegenie.session import start

        start(config)


@pytest.fixture
def codegenie_task_class(request: pytest.FixtureRequest) -> TaskClass:
    """The task class whose directory the test is in, loaded whole."""
    from pytest_codegenie.session.fixtures import enclosing_task_class

    return enclosing_task_class(Path(request.path))


@pytest.fixture
def codegenie_rubric(codegenie_task_class: TaskClass) -> Rubric:
    """A fresh rubric of the task class whose directory the test is in."""
    rubric: Rubric = codegenie_task_class.rubric_class()
    return rubric


@pytest.fixture
def codegenie_make_case(
    codegenie_task_class: TaskClass, tmp_path: Path
) -> Callable[..., BenchCase]:
    """Make a case record of the task class, for a rubric's unit tests.

    Keyword arguments replace single keys; the case's directory is empty.
    """
    from pytest_codegenie.session.fixtures import make_case

    def make(**keys: object) -> BenchCase:
        return make_case(codegenie_task_class.name, tmp_path, keys)

    return make
