"""``--codegenie-max-cost-usd``: one budget for all agents of a run.

Each process that runs cases reserves what a case may cost before its agent starts, and
settles it by the result; the ledger in the run's directory is what they share.
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError

from pytest_codegenie import logs
from pytest_codegenie.agents import AgentAdapter
from pytest_codegenie.agents import LimitsCost
from pytest_codegenie.agents import PatchAgent
from pytest_codegenie.errors import EXIT_COST
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import read_plain_results
from pytest_codegenie.evidence.budget.account import Budget
from pytest_codegenie.evidence.budget.ledger import LEDGER
from pytest_codegenie.evidence.budget.ledger import DoesNotFit
from pytest_codegenie.evidence.budget.ledger import Ledger
from pytest_codegenie.evidence.budget.ledger import dollars
from pytest_codegenie.evidence.history import Kind
from pytest_codegenie.evidence.history import Past
from pytest_codegenie.evidence.history import read_history
from pytest_codegenie.harness.progress import Progress
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import PartTable
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.interrupting import STOP_FILE
from pytest_codegenie.session.not_running import CaseNotRun
from pytest_codegenie.session.running import Runner
from pytest_codegenie.session.settings import usage_errors


_PAUSE_SECONDS = 0.2
_OPTION = "--codegenie-max-cost-usd"


class Budgeting:
    """Runs jobs as another function does, as far as the budget goes.

    Args:
        run_job: How a job becomes a result.
        run_directory: Of the run, whose ledger there is.
        workers: How many cases run at a time.
        stop_file: Nothing more is started while it is there.
    """

    def __init__(
        self,
        run_job: Callable[[CaseJob], CaseResult],
        run_directory: Path,
        *,
        workers: int,
        stop_file: Path,
    ) -> None:
        self._run_job = run_job
        self._run_directory = run_directory
        self._ledger = Ledger(run_directory / LEDGER)
        self._workers = workers
        self._stop_file = stop_file
        self._past: dict[Kind, Past] | None = None
        #: Agent's label to whether it costs anything, and its own limit in dollars.
        self._agents: dict[str, tuple[bool, float | None]] = {}

    def __call__(self, job: CaseJob) -> CaseResult:
        """Run a job on a reservation, if it needs one.

        Raises:
            CaseNotRun: It does not fit into what is left.
            RunStoreError: The ledger cannot be read or written.
        """
        costs, limit = self._agent(job)
        if not costs:
            return self._run_job(job)
        reservation = self._reserve(job, limit)
        update = {"budget_path": self._ledger.path, "reservation": reservation}
        try:
            result = self._run_job(job.model_copy(update=update))
        except BaseException:
            with contextlib.suppress(RunStoreError):
                self._ledger.settle(reservation, None)
            raise
        self._ledger.settle(reservation, result)
        return result

    def _agent(self, job: CaseJob) -> tuple[bool, float | None]:
        label = job.agent.label
        if label not in self._agents:
            self._agents[label] = _cost_of(job.agent, job.parts)
        return self._agents[label]

    def _reserve(self, job: CaseJob, limit: float | None) -> str:
        past = () if limit is not None else self._earlier(job)
        with _timeouts_waiting():
            while True:
                try:
                    name = self._ledger.reserve(
                        job, limit_usd=limit, past_usd=past, workers=self._workers
                    )
                except DoesNotFit as exc:
                    raise self._not_run(job, "budget", str(exc)) from None
                if name is not None:
                    return name
                if self._stop_file.exists():
                    reason = "interrupted while it waited for a part of the budget"
                    raise self._not_run(job, "interrupted", reason)
                Progress(job.progress_path).enter("waits")
                time.sleep(_PAUSE_SECONDS)

    def _earlier(self, job: CaseJob) -> Sequence[float]:
        """Return what such cases cost in earlier runs, if this one knows nothing."""
        kind = Kind(job.case.task_class, job.agent.label, job.agent.name)
        if self._ledger.knows(kind):
            return ()
        if self._past is None:
            # Of this run the ledger knows more.
            self._past = read_history(
                self._run_directory.parents[1], without=self._run_directory.name
            )
        return self._past.get(kind, Past()).costs

    @staticmethod
    def _not_run(job: CaseJob, why: str, reason: str) -> CaseNotRun:
        with contextlib.suppress(OSError):
            if job.progress_path is not None:
                job.progress_path.unlink(missing_ok=True)
            logs.emit("case.not_run", case=job.case.case_id, why=why, reason=reason)
        return CaseNotRun(why, reason)


def _cost_of(spec: AgentSpec, parts: PartTable) -> tuple[bool, float | None]:
    """Return whether an agent may cost anything, and at which cost it ends itself."""
    try:
        agent = make_part("agent", spec.name, parts.agents)
        if isinstance(agent, PatchAgent) or not isinstance(agent, AgentAdapter):
            return False, None
        agent.configure(spec.options)
        limit = agent.get_cost_limit_usd() if isinstance(agent, LimitsCost) else None
    except Exception:
        # Somebody else's code may raise anything. Its cases say what is wrong with it.
        return False, None
    known = limit is not None and 0 < limit < math.inf
    return True, float(limit) if limit is not None and known else None


@contextlib.contextmanager
def _timeouts_waiting() -> Iterator[None]:
    """Let the clock stand still by which pytest-timeout guards an item.

    How long a case waits is up to the cases that run.
    """
    left, every = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        if left:
            signal.setitimer(signal.ITIMER_REAL, left, every)


def begin_budget(cap_usd: float, run_directory: Path, parts: PartTable) -> Ledger:
    """Begin a session of a run that has a budget.

    Args:
        cap_usd: What all sessions of the run may cost.
        run_directory: Of the run; there may be results of earlier sessions in it.
        parts: All there are.

    Raises:
        RunStoreError: What is there cannot be read, or the ledger not be written.
    """
    ledger = Ledger(run_directory / LEDGER)
    ledger.begin(cap_usd, _paid_results(run_directory, parts))
    return ledger


def _paid_results(run_directory: Path, parts: PartTable) -> Iterator[CaseResult]:
    """Yield all tries of agents that may have cost something."""
    try:
        for plain in read_plain_results(run_directory, all_tries=True):
            result = CaseResult.model_validate(plain)
            if not _is_free(result.agent_name, parts):
                yield result
    except ValidationError as exc:
        fault = exc.errors(include_url=False)[0]["msg"]
        raise RunStoreError(
            run_directory / RESULTS, f"a line is no result: {fault}"
        ) from exc


def _is_free(agent_name: str, parts: PartTable) -> bool:
    try:
        return isinstance(make_part("agent", agent_name, parts.agents), PatchAgent)
    except Exception:
        return False  # it is not there any more; nothing is known of it


def budget_lines(budget: Budget, run_id: str | None) -> Iterator[str]:
    """Yield what a session's summary says of its budget.

    Args:
        budget: What it came to.
        run_id: Of the run, if it can be gone on with.
    """
    spent, cap = dollars(budget.spent_usd), dollars(budget.cap_usd)
    yield f"budget: {spent} of {cap} USD spent, as reported by the agents"
    if budget.unknown:
        results = _count(budget.unknown, "result")
        yield f"  {dollars(budget.held_usd)} held for {results} of unknown cost"
    over = budget.spent_usd - budget.cap_usd
    if over > 0:
        yield f"  {dollars(over)} over the cap: it is told after each answer, or later"
    if not budget.was_reached:
        return
    ended = [f"{_count(budget.stopped, 'agent')} ended"] if budget.stopped else []
    left_out = [f"{_count(budget.refused, 'case')} not run"] if budget.refused else []
    happened = ", ".join(ended + left_out)
    yield f"  the cap was reached: {happened}; to go on, with a higher cap:"
    resume = f"--codegenie-resume {run_id} " if run_id else ""
    yield f"  {resume}{_OPTION} USD"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def limit_costs(runner: Runner, workers: int) -> None:
    """Let a runner's jobs keep to the run's budget, if it has one.

    Args:
        runner: It knows the run's directory, if there is one.
        workers: How many cases run at a time.
    """
    if runner.settings.max_cost_usd is None or runner.run_directory is None:
        return
    assert runner.scratch is not None
    runner.run_job = Budgeting(
        runner.run_job,
        runner.run_directory,
        workers=workers,
        stop_file=runner.scratch / STOP_FILE,
    )


class SessionBudget:
    """The budget of a session, in the process that reports.

    Args:
        runner: Of the session.
        tell: Takes lines for the summary, and the exit code where not all was run.
    """

    def __init__(
        self, runner: Runner, tell: Callable[[Sequence[str], int], None]
    ) -> None:
        self._runner = runner
        self._tell = tell
        self._ledger: Ledger | None = None

    def pytest_report_header(self) -> str | None:
        """Say what all may cost."""
        cap = self._runner.settings.max_cost_usd
        return None if cap is None else f"codegenie: cost cap: {dollars(cap)} USD"

    def pytest_sessionstart(self) -> None:
        """Begin, now that the run has its directory, and before xdist has workers."""
        cap, directory = self._runner.settings.max_cost_usd, self._runner.run_directory
        if cap is None or directory is None:
            return
        with usage_errors():
            self._ledger = begin_budget(cap, directory, self._runner.parts)
        limit_costs(self._runner, workers=1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Tell what it came to, before the run is reported and the exit code set."""
        if self._ledger is None:
            return
        try:
            budget = self._ledger.budget()
        except RunStoreError as exc:
            self._tell([str(exc)], exc.exit_code)
            return
        # Else the run's directory is removed: there is nothing to go on with.
        run = self._ledger.path.parent
        begun = (run / RESULTS).exists() or (run / "cases").exists()
        if begun or budget.was_reached:
            lines = budget_lines(budget, self._runner.run_id if begun else None)
            self._tell([*lines], EXIT_COST if budget.was_reached else 0)
