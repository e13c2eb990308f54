"""``--codegenie-grade RUN``: the items of an earlier run, judged again.

Who the agents were, and how many trials there were, is as that run has it. All else is
as today's settings, tests and rubrics have it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import GradeRefused
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RUN
from pytest_codegenie.evidence import RecordedResults
from pytest_codegenie.evidence import StoredRun
from pytest_codegenie.evidence import find_run
from pytest_codegenie.evidence import open_run
from pytest_codegenie.evidence import result_key
from pytest_codegenie.harness import grade_again
from pytest_codegenie.harness import never_recorded
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult


_OPTION = "--codegenie-grade"
#: Options that have no meaning with it, by their dests, and why.
_CLASHES = {
    "agent": "the agents are those of the run; -k chooses among them",
    "trials": "the trials are those of the run",
    "validate": "no run is looked at when the corpus is checked",
}


class Grading:
    """An earlier run whose patches are judged again.

    Args:
        run: The run.
        changed: Judge cases, too, whose files changed since then.
    """

    def __init__(self, run: StoredRun, *, changed: bool) -> None:
        self.run = run
        self._changed = changed

    @functools.cached_property
    def _results(self) -> RecordedResults:
        return RecordedResults(self.run.directory)

    @functools.cached_property
    def _names(self) -> frozenset[str]:
        """Of all items that the run was to run; each case id is one case's alone."""
        return frozenset(item.partition("::")[2] for item in self.run.record.items)

    @property
    def versions(self) -> dict[str, str]:
        """Of the agents that worked then; what is installed today says nothing."""
        versions = self.run.record.versions
        return {k: v for k, v in versions.items() if k.startswith("agent ")}

    def settings(self, settings: RunConfig) -> RunConfig:
        """Return the settings, with the run's agents and trials.

        Raises:
            RunStoreError: The run's record does not say who they are.
        """
        config = self.run.record.config
        try:
            # Values of variables are on no record, and no agent is started.
            agents = [{**agent, "env": {}} for agent in config["agents"]]
            then = RunConfig.model_validate(
                {"agents": agents, "trials": config.get("trials", 1)}
            )
        except (LookupError, TypeError, ValueError) as exc:
            raise RunStoreError(
                self.run.directory / RUN,
                f"does not say which agents the run had: {type(exc).__name__}",
            ) from exc
        return settings.model_copy(
            update={"agents": then.agents, "trials": then.trials}
        )

    def has(self, item: pytest.Item) -> bool:
        """Say whether the run was to run an item, so that there is one to grade."""
        # A run that was killed at once may not have recorded any.
        return not self._names or item.name in self._names

    def check(self, jobs: Iterable[CaseJob]) -> None:
        """Refuse cases that are not what they were: other patches belong to them.

        Raises:
            GradeRefused: Cases changed; all of them are named.
            RunStoreError: The run's results cannot be read.
        """
        if self._changed:
            return
        changed: dict[BenchCase, None] = {}
        for job in jobs:
            entry = self._results.get(result_key(job))
            if entry is not None and entry.case_digest != job.case.case_digest:
                changed[job.case] = None
        if changed:
            names = tuple(f"{case.task_class}/{case.case_id}" for case in changed)
            raise GradeRefused(self.run.record.run_id, names)

    def answer(self, job: CaseJob, run_job: object) -> CaseResult:
        """Return what is said today of what an agent left then.

        Args:
            job: What would be run today.
            run_job: Not called.

        Raises:
            CodegenieError: As ``run_case``; or the run's results cannot be read.
        """
        del run_job
        key = result_key(job)
        if key not in self._results:
            return never_recorded(job, self.run.record.run_id)
        return grade_again(job, self._results.read(key))


def find_grading(
    option: Any, out: Path, given: Mapping[str, Any] | None
) -> Grading | None:
    """Return what a session grades; None where it runs agents.

    Args:
        option: pytest's options.
        out: Where runs are kept.
        given: What the controller told a worker of xdist; None: this is no worker.

    Raises:
        ConfigError: Another option has no meaning with it.
        RunNotFound: There is no such run.
        RunStoreError: It cannot be read.
    """
    name = option.codegenie_grade
    if not name:
        if option.codegenie_grade_changed:
            raise ConfigError(
                "command line",
                "--codegenie-grade-changed",
                f"says nothing without {_OPTION} RUN; name the run",
            )
        return None
    for clash in _clashes(option):
        raise ConfigError("command line", f"--codegenie-{clash}", _CLASHES[clash])
    # For a worker the latest run is the one that it belongs to.
    directory = Path(given["graded"]) if given else find_run(name, lambda: out)
    run = open_run(directory.resolve())
    return Grading(run, changed=option.codegenie_grade_changed)


def _clashes(option: Any) -> Iterator[str]:
    return (name for name in _CLASHES if getattr(option, f"codegenie_{name}", None))
