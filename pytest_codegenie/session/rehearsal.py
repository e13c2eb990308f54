"""A session that collects, as a run would, and stops before any case is run."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

import pytest

from pytest_codegenie.config import Configuration
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.models import PartTable
from pytest_codegenie.session.collection import Collection
from pytest_codegenie.session.corpus import SessionCorpus
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.settings import configured


@dataclass
class Rehearsal:
    """What a run with the same arguments would start from."""

    #: Of the session; 0, or 5 where no case is selected, if all is well.
    exit_code: int
    #: All that pytest printed.
    printed: str
    #: None: pytest did not get so far; it has said why.
    configuration: Configuration | None = None
    #: The settings with the workspace chosen, the parts, and the corpus.
    collection: Collection | None = None
    items: Sequence[CaseItem] = ()
    #: How many cases would run at a time.
    workers: int = 1
    #: What does not verify, a case's task among it.
    problems: Sequence[CodegenieError] = field(default_factory=list)

    @property
    def parts(self) -> PartTable:
        """All there are."""
        assert self.collection is not None
        return self.collection.runner.parts

    @property
    def corpus(self) -> SessionCorpus:
        """What was collected from."""
        assert self.collection is not None
        return self.collection.runner.corpus


class _Watcher:
    """Takes what the session has found, before it ends."""

    def __init__(self) -> None:
        self.found = Rehearsal(0, "")

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        # Nothing ran, so there is nothing that a report of a real run may give way to.
        if hasattr(config.option, "xmlpath"):
            config.option.xmlpath = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        config, found = session.config, self.found
        collection = config.pluginmanager.get_plugin("codegenie-session")
        assert isinstance(collection, Collection)
        found.configuration = configured(config)
        found.collection = collection
        found.items = [item for item in session.items if isinstance(item, CaseItem)]
        corpus = collection.runner.corpus
        corpus.check_tasks(item.case for item in found.items)
        found.problems = [problem.error for problem in corpus.problems]
        if config.getoption("dist", "no") != "no":
            found.workers = max(1, len(config.getoption("tx", ())))


def rehearse(arguments: Sequence[str]) -> Rehearsal:
    """Collect, as ``pytest`` with these arguments would.

    What is wrong with options is on stderr then, as pytest says it.
    """
    watcher = _Watcher()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = pytest.main(
            # That this package is imported already is no fault, though a project may
            # have all warnings be errors.
            [
                *arguments,
                "--collect-only",
                *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
            ],
            plugins=[watcher],
        )
    watcher.found.exit_code = int(code)
    watcher.found.printed = output.getvalue()
    return watcher.found
