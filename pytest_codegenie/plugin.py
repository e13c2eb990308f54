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
        help="collect and run bench cases (bench/*/cases/*/case.toml) and datasets as "
        "they are (dataset.toml, *.dataset.toml), and only these",
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
        "--codegenie-dataset",
        action="append",
        dest="codegenie_dataset",
        metavar="NAME[:SPLIT]",
        help="run only the cases of this dataset (a task class of the bench), or of "
        "this split of it (held-out, rag-corpus-derived); may be given several times",
    )
    group.addoption(
        "--codegenie-case",
        action="append",
        dest="codegenie_case",
        metavar="ID",
        help="run only the case of this id; may be given several times",
    )
    group.addoption(
        "--codegenie-limit",
        dest="codegenie_limit",
        metavar="N",
        help="run only the first N of the selected cases, by case id",
    )
    group.addoption(
        "--codegenie-workspace",
        dest="codegenie_workspace",
        metavar="auto|host|sandbox|docker|...",
        help="where agents work (default: auto, the best that works here)",
    )
    group.addoption(
        "--codegenie-no-docker",
        action="store_true",
        dest="codegenie_no_docker",
        help="refuse the workspace docker, whoever names it",
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
        "--codegenie-require-lower-bound",
        action="append",
        dest="codegenie_require_lower_bound",
        metavar="[TASK=]X",
        help="a gate: the exit code then says whether the lower bound of the mean "
        "score reaches X (0 to 1) for each agent, not whether every case passed; X "
        "alone is for all task classes that have no bound of their own; may be given "
        "several times",
    )
    group.addoption(
        "--codegenie-baseline",
        dest="codegenie_baseline",
        metavar="RUN",
        help="compare with this earlier run when all is done: an id, a directory, or "
        "'latest'",
    )
    group.addoption(
        "--codegenie-fail-on-regression",
        action="store_true",
        default=None,
        dest="codegenie_fail_on_regression",
        help="a gate: exit code 10 where a case that passed in the baseline fails, or "
        "where that cannot be told",
    )
    group.addoption(
        "--codegenie-cache",
        dest="codegenie_cache",
        metavar="auto|off|refresh",
        help="auto (the default): take what is known of an agent that always gives the "
        "same answer; refresh: run all and keep it; off: run all and keep nothing",
    )
    group.addoption(
        "--codegenie-grade",
        dest="codegenie_grade",
        metavar="RUN",
        help="start no agent: judge what those of this earlier run left, by today's "
        "tests and rubrics (an id, a directory, or 'latest')",
    )
    group.addoption(
        "--codegenie-grade-changed",
        action="store_true",
        dest="codegenie_grade_changed",
        help="with --codegenie-grade: cases, too, whose files changed since that run",
    )
    group.addoption(
        "--codegenie-resume",
        nargs="?",
        const="latest",
        dest="codegenie_resume",
        metavar="RUN",
        help="go on with this run (its id, its directory, or 'latest', the default): "
        "what has a verdict is reported from its record, the rest is run; an existing "
        "path after it is what to collect, and no run",
    )
    group.addoption(
        "--codegenie-max-cost-usd",
        dest="codegenie_max_cost_usd",
        metavar="USD",
        help="what all agents of the run may cost together, as they report it; when it "
        "is reached, what runs is ended, the rest is not run, exit code 7",
    )
    group.addoption(
        "--codegenie-keep",
        dest="codegenie_keep",
        metavar="never|failed|always",
        help="keep workspaces among a case's artifacts (default: never)",
    )
    group.addoption(
        "--codegenie-reporter",
        action="append",
        dest="codegenie_reporter",
        metavar="NAME",
        help="write this report into the run's directory when it ends; may be given "
        "several times (codegenie list reporters)",
    )
    group.addoption(
        "--codegenie-log-level",
        dest="codegenie_log_level",
        metavar="debug|info|warning|error",
        help="events below it are left out of the run's log.jsonl (default: info)",
    )
    group.addoption(
        "--codegenie-show-config",
        action="store_true",
        dest="codegenie_show_config",
        help="print every setting, its value and where it comes from, and run nothing",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Give xdist the workers that the settings ask for, as ``-n`` would."""
    if early_config.known_args_namespace.codegenie_resume is not None:
        from pytest_codegenie.session.early import join_resume

        join_resume(early_config, args)
    if early_config.known_args_namespace.codegenie:
        from pytest_codegenie.session.early import add_workers

        add_workers(early_config, args)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Show the settings, or what is wrong with the record, and run nothing."""
    if not (config.option.codegenie or config.option.codegenie_show_config):
        return None
    from pytest_codegenie.session import early

    if config.option.codegenie_show_config:
        return early.show_config(config)
    return early.refuse_broken_chain(config)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the session's part of the plugin, if it is asked for."""
    if config.option.codegenie or config.option.codegenie_validate:
        from pytest_codegenie.session.control import start

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
