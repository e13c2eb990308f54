"""Running the case of an item, and recording the result before it is reported."""

from __future__ import annotations

import contextlib
import functools
import os
import traceback
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_codegenie import logs
from pytest_codegenie.config import RunConfig
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RecordedResults
from pytest_codegenie.evidence import ResultKey
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence import artifacts_place
from pytest_codegenie.harness import make_job
from pytest_codegenie.harness import run_case
from pytest_codegenie.harness import unfinished_result
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import PartTable
from pytest_codegenie.models import utc_now
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.redaction import find_secrets
from pytest_codegenie.session.corpus import SessionCorpus
from pytest_codegenie.session.datasets import DatasetFiles
from pytest_codegenie.session.grading import Grading
from pytest_codegenie.session.items import CaseItem
from pytest_codegenie.session.resuming import RECORDED_SECONDS
from pytest_codegenie.session.resuming import Resumption


def _run(job: CaseJob, run_job: Callable[[CaseJob], CaseResult]) -> CaseResult:
    return run_job(job)


class Runner:
    """Makes jobs, runs them and records what comes of them, in one process."""

    def __init__(self, settings: RunConfig, parts: PartTable) -> None:
        self.settings = settings
        self.parts = parts
        #: Of what every process of the run knows; a case knows its agent's too.
        self.redactor = Redactor(
            find_secrets(
                os.environ,
                *(agent.env for agent in settings.agents),
                named=settings.secrets,
            )
        )
        #: How a job becomes a result; a cache, a budget or a record stands around it.
        self.run_job: Callable[[CaseJob], CaseResult] = run_case
        #: Stands before ``run_job``, which it is given: a cache, or an earlier run.
        self.answer: Callable[
            [CaseJob, Callable[[CaseJob], CaseResult]], CaseResult
        ] = _run
        #: An earlier run whose patches are judged again; None: agents work.
        self.grading: Grading | None = None
        self.datasets = DatasetFiles(parts, lambda: self.settings.out / "cache")
        self.corpus = SessionCorpus(opens=self.datasets.open)
        self.run_id = ""
        #: None where nothing is recorded: with --collect-only or --codegenie-validate.
        self.run_directory: Path | None = None
        #: What there is already of a run that goes on; None: it is a new one.
        self.resumption: Resumption | None = None
        self.scratch: Path | None = None
        #: Where cases tell how far they are; None where nobody watches.
        self.progress_directory: Path | None = None
        #: Tells the artifacts of workers apart that run the same case (--dist each).
        self.artifacts_suffix = ""

    def go_on(self, resumption: Resumption) -> None:
        """Go on with a run, where it is."""
        self.run_id = resumption.record.run_id
        self.resumption = resumption
        runs = resumption.directory.parent
        if runs.name == "runs":
            self.settings = self.settings.model_copy(update={"out": runs.parent})

    def attempts(self, case_id: str) -> Iterator[tuple[str, AgentSpec, int]]:
        """Yield (name of the item, agent, trial) for all that is done with a case."""
        for agent in self.settings.agents:
            for trial in range(1, self.settings.trials + 1):
                yield self._item_name(case_id, agent, trial), agent, trial

    def _item_name(self, case_id: str, agent: AgentSpec, trial: int) -> str:
        suffix = f"-t{trial}" if self.settings.trials > 1 else ""
        return f"{case_id}[{agent.label}{suffix}]"

    @functools.cached_property
    def _suffixes(self) -> dict[str, tuple[AgentSpec, int]]:
        """What an item's name has after that of its case to (agent, trial)."""
        return {name: (agent, trial) for name, agent, trial in self.attempts("")}

    def _attempt(self, case: BenchCase, name: str) -> tuple[AgentSpec, int]:
        """Return agent and trial of an item, by its name."""
        return self._suffixes[name.removeprefix(case.case_id)]

    def key(self, case: BenchCase, name: str) -> ResultKey:
        """Return what an item is of.

        Args:
            case: Its case.
            name: Of the item.
        """
        agent, trial = self._attempt(case, name)
        return ResultKey(case.task_class, case.case_id, agent.label, trial)

    def has_verdict(self, item: CaseItem) -> bool:
        """Say whether an item is reported from the record of a run that goes on."""
        if self.resumption is None or item.case is None:
            return False
        return self.resumption.has_verdict(self.key(item.case, item.name))

    def guard_seconds(self, item: CaseItem) -> float:
        """Return all limits of an item together, and the margin."""
        job = item.make_job()
        tests_limit = self.corpus.tests_limit_seconds(job.case)
        return (
            job.agent_limit_seconds
            + job.tests_limit_seconds(tests_limit)
            + job.case.rubric_wall_clock_seconds
            + (job.setup_seconds if self.corpus.needs_setup(job.case) else 0)
            + self.settings.timeout_margin
        )

    def job_maker(
        self, case: BenchCase | None, agent: AgentSpec, trial: int
    ) -> Callable[[], CaseJob]:
        """Return what makes an item's job when it is needed."""

        def make() -> CaseJob:
            assert case is not None, "a case that does not verify is never run"
            return self.job(case, agent, trial)

        return make

    def job(
        self,
        case: BenchCase,
        agent: AgentSpec,
        trial: int,
        *,
        attempt: int | None = None,
    ) -> CaseJob:
        """Return the job of a case that verifies.

        Args:
            case: The case.
            agent: Who works on it.
            trial: 1-based.
            attempt: 1-based; None: the next, or the one that gave the verdict.
        """
        key = ResultKey(case.task_class, case.case_id, agent.label, trial)
        if attempt is None:
            attempt = self.resumption.attempt(key) if self.resumption else 1
        directory = case.directory.parent.parent
        task_class = self.corpus.task_class(directory)
        assert task_class is not None
        return make_job(
            case,
            task_class,
            agent,
            parts=self.parts,
            run_id=self.run_id,
            trial=trial,
            attempt=attempt,
            workspace=self.settings.workspace,
            timeout_seconds=self.settings.timeout,
            keep=self.settings.keep,
            limits=self.settings.limits,
            sandbox=self.settings.sandbox,
            docker=self.settings.docker,
            evaluator=self.settings.evaluator,
            setup_seconds=self.settings.setup_timeout,
            cache_directory=self.settings.out / "cache",
            scratch_root=self.scratch,
            run_directory=self.run_directory,
            artifacts_path=artifacts_place(key, attempt) + self.artifacts_suffix,
            progress_path=self._progress_path(case, agent, trial),
            rubric_digest=self.corpus.rubric_digest(directory),
            secret_names=self.settings.secrets,
            hidden=self.corpus.lazy.answers_of(case),
        )

    def _progress_path(
        self, case: BenchCase, agent: AgentSpec, trial: int
    ) -> Path | None:
        if self.progress_directory is None or self.run_directory is None:
            return None
        return self.progress_directory / self._item_name(case.case_id, agent, trial)

    def obtain(self, item: CaseItem) -> CaseResult:
        """Run an item's case and record the result, before anybody hears of it.

        Where a run goes on and the result is on record already, that is returned.
        """
        recorded = self._recorded(item)
        if recorded is not None:
            return recorded
        job = item.make_job()
        started_at = utc_now()
        self._log("case.started", item=item.nodeid)
        try:
            self.corpus.lazy.provide(job.case)
            result = self.answer(job, self.run_job)
        except CodegenieError as exc:
            self._stop_for(item, exc)
            raise
        except pytest.fail.Exception as exc:
            # pytest-timeout: the harness itself hangs.
            reason = f"the harness did not end: {exc.msg}"
            result = unfinished_result(
                job, code="workspace.error", reason=reason, started_at=started_at
            )
        except Exception as exc:
            # A harness is anybody's code, and a disk may be full.
            self._log("harness.broke", item=item.nodeid, trace=traceback.format_exc())
            reason = f"the harness broke: {type(exc).__name__}: {exc}"
            result = unfinished_result(
                job, code="workspace.error", reason=reason, started_at=started_at
            )
        assert self.run_directory is not None
        try:
            append_result(self.run_directory, self.redactor.record(result))
        except RunStoreError as exc:
            self._stop_for(item, exc)
            raise
        self._log("case.ended", item=item.nodeid, outcome=result.outcome)
        if job.progress_path is not None:
            with contextlib.suppress(OSError):
                job.progress_path.unlink()
        return result

    def _recorded(self, item: CaseItem) -> CaseResult | None:
        if self.resumption is None or item.case is None:
            return None
        try:
            result = self.resumption.verdict(self.key(item.case, item.name))
        except RunStoreError as exc:
            self._stop_for(item, exc)
            raise
        if result is not None:
            spent = result.ended_at - result.started_at
            item.stash[RECORDED_SECONDS] = spent.total_seconds()
        return result

    @staticmethod
    def _log(event_type: str, **payload: Any) -> None:
        # A full disk stops the session where a result cannot be recorded.
        with contextlib.suppress(OSError):
            logs.emit(event_type, **payload)

    def _stop_for(self, item: pytest.Item, error: CodegenieError) -> None:
        """Start no further case: the corpus, or the record, cannot be trusted."""
        item.session.shouldstop = str(error).partition("\n")[0]

    def record_crash(
        self, case_directory: Path, name: str, reason: str, *, alone: bool
    ) -> CaseResult | None:
        """Record the result of an item that took its worker with it.

        Args:
            case_directory: Of its case.
            name: Of the item.
            reason: What happened.
            alone: No other worker runs the item, too.

        Returns:
            What is on record of it: the worker may have come so far. None: the corpus
            does not verify, or nothing is recorded.
        """
        case = self.corpus.case(case_directory)
        if case is None or self.run_directory is None:
            return None  # the other workers say what is wrong with it
        key = self.key(case, name)
        agent, trial = self._attempt(case, name)
        earlier = self.resumption.recorded.get(key) if self.resumption else None
        # It cannot be recorded on a full disk; it is an ERROR all the same.
        with contextlib.suppress(RunStoreError):
            recorded = RecordedResults(self.run_directory)
            if alone and key in recorded and recorded[key] != earlier:
                return recorded.read(key)
        attempt = self.resumption.crashed_attempt(key) if self.resumption else 1
        result = unfinished_result(
            self.job(case, agent, trial, attempt=attempt),
            code="workspace.error",
            reason=reason,
            started_at=utc_now(),
        )
        with contextlib.suppress(RunStoreError):
            append_result(self.run_directory, self.redactor.record(result))
        return result
