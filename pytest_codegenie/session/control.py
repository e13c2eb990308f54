"""Starting a session: who does what in which process.

Without xdist one process does all. With xdist the controller hashes the corpus, makes
the run's directory and reports; each worker collects, runs cases and records results.
"""

from __future__ import annotations

import pytest

from pytest_codegenie.session.budgeting import SessionBudget
from pytest_codegenie.session.budgeting import limit_costs
from pytest_codegenie.session.caching import TellsProvenance
from pytest_codegenie.session.caching import make_cache
from pytest_codegenie.session.collection import Collection
from pytest_codegenie.session.controller import Controller
from pytest_codegenie.session.grading import find_grading
from pytest_codegenie.session.nodes import MARKERS
from pytest_codegenie.session.not_running import NotRunReports
from pytest_codegenie.session.running import Runner
from pytest_codegenie.session.settings import BuiltinParts
from pytest_codegenie.session.settings import gather_parts
from pytest_codegenie.session.settings import read_settings
from pytest_codegenie.session.settings import usage_errors
from pytest_codegenie.session.worker import WORKER_KEY
from pytest_codegenie.session.worker import Worker


def start(config: pytest.Config) -> None:
    """Add the session's hooks to a pytest that was started with ``--codegenie``.

    Raises:
        pytest.UsageError: A setting is wrong.
    """
    for name, description in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {description}")
    config.pluginmanager.register(BuiltinParts(), "codegenie-parts")
    given = getattr(config, "workerinput", {}).get(WORKER_KEY)
    with usage_errors():
        parts = gather_parts(config.hook)
        chosen = None if given is None else given["workspace"]
        settings = read_settings(config, parts, chosen)
        grading = find_grading(config.option, settings.out, given)
        runner = Runner(grading.settings(settings) if grading else settings, parts)
    plugin: Collection = (
        Controller(config, runner) if given is None else Worker(config, runner, given)
    )
    config.pluginmanager.register(plugin, "codegenie-session")
    cache = None
    if grading is not None:
        runner.grading, runner.answer = grading, grading.answer
    elif not plugin.validating:
        cache = make_cache(runner)
    if cache is not None:
        runner.answer = cache.answer
    config.pluginmanager.register(TellsProvenance(cache), "codegenie-provenance")
    config.pluginmanager.register(NotRunReports(), "codegenie-not-run")
    if isinstance(plugin, Controller):
        budget = SessionBudget(runner, plugin.take_budget)
        config.pluginmanager.register(budget, "codegenie-budget")
    else:
        limit_costs(runner, workers=config.workerinput["workercount"])  # type: ignore[attr-defined]
