"""Cases that no agent worked on in this run: looked up, told as such, and warned of."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_codegenie.harness import CaseCache
from pytest_codegenie.session.provenance import provenance_of
from pytest_codegenie.session.running import Runner


#: Behind the word that pytest has for an outcome, with ``-v``.
_WORDS: dict[str, str] = {
    "patch-cache": "patch cached",
    "verdict-cache": "cached",
    "regraded": "graded again",
}
#: An attribute of reports: xdist carries what a report has beyond pytest's own.
_PROBLEMS = "codegenie_cache_problems"


def make_cache(runner: Runner) -> CaseCache | None:
    """Return what stands before a session's cases; None: nothing does."""
    mode = runner.settings.cache
    return None if mode == "off" else CaseCache(runner.settings.out / "cache", mode)


class TellsProvenance:
    """Says in pytest's output what did not come from this run.

    Args:
        cache: Of this process; None: it has none.
    """

    def __init__(self, cache: CaseCache | None) -> None:
        self._cache = cache
        #: Sentences about the cache, of all processes.
        self._problems: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> Generator[None, Any, Any]:
        """Add to the word, and leave category and letter as they are."""
        status = yield
        provenance = provenance_of(report)
        if not status or provenance not in _WORDS:
            return status
        category, letter, word = status
        text, *markup = word if isinstance(word, tuple) else (word,)
        if not text:
            return status
        text = f"{text} ({_WORDS[provenance]})"
        return category, letter, (text, *markup) if markup else text

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a report carry what was wrong with the cache, to the controller."""
        report = yield
        problems = self._cache.take_problems() if self._cache else []
        if problems:
            setattr(report, _PROBLEMS, problems)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what was wrong with the cache, from workers too."""
        for problem in getattr(report, _PROBLEMS, ()):
            if problem not in self._problems:
                self._problems.append(problem)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say in one line what was wrong with the cache, below the run's summary."""
        if self._problems:
            first, *others = self._problems
            more = f" (and {len(others)} more, in log.jsonl)" if others else ""
            terminalreporter.write_line(f"{first}{more}")
