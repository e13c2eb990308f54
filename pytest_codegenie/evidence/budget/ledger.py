"""``budget.jsonl``: the entries of a run's budget, kept by all of its processes.

Whoever reads or appends holds the file's lock, and an entry is on the disk before
anything is done that it stands for. So a process may be killed at any point: what it
had reserved is found open, with an owner that is gone. Where its agent had started, the
cost is unknown and the reservation stays held; where not, it cost nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from pytest_codegenie.documents import sync_directory
from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.evidence.budget.account import Account
from pytest_codegenie.evidence.budget.account import Budget
from pytest_codegenie.evidence.budget.account import LedgerEntry
from pytest_codegenie.evidence.budget.account import Wish
from pytest_codegenie.evidence.budget.account import budget_of
from pytest_codegenie.evidence.budget.account import decide
from pytest_codegenie.evidence.budget.account import to_nano
from pytest_codegenie.evidence.budget.account import to_usd
from pytest_codegenie.evidence.budget.account import wish
from pytest_codegenie.evidence.history import Kind
from pytest_codegenie.evidence.lines import append_whole
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.models import utc_now


LEDGER = "budget.jsonl"
#: Of the cap. What a running agent used is told in steps of at least this much, so
#: that all agents of a run together tell about a thousand times, however long it is.
_STEP = 1000
#: The failure mode of a case whose agent did not start, and so cost nothing.
_NEVER_STARTED = "agent.unavailable"


class DoesNotFit(Exception):
    """A case is not run: what it needs is more than is left, and nothing is open."""

    def __init__(self, wished: Wish, budget: Budget) -> None:
        super().__init__(wished, budget)
        self.wished = wished
        self.budget = budget

    def __str__(self) -> str:
        budget = self.budget
        left = budget.cap_usd - budget.spent_usd - budget.held_usd
        held = f" and {dollars(budget.held_usd)} held" if budget.held_usd else ""
        return (
            f"the cost cap of {dollars(budget.cap_usd)} USD: "
            f"{dollars(budget.spent_usd)} spent{held}, {dollars(max(0.0, left))} left, "
            f"{dollars(to_usd(self.wished.amount))} to be reserved "
            f"({self.wished.basis})"
        )


def dollars(amount: float) -> str:
    """Return dollars as messages have them: to the cent, or to its hundredth."""
    text = f"{amount:.4f}"
    return text[:-2] if text.endswith("00") else text


class Ledger:
    """The budget of a run. Any number of processes use it at once.

    Args:
        path: ``budget.jsonl``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._account = Account()
        #: How much of the file is in the account.
        self._read = 0
        self._lines = 0

    def knows(self, kind: Kind) -> bool:
        """Say whether it is known what such cases cost in this run.

        Raises:
            RunStoreError: The ledger cannot be read.
        """
        with self._locked():
            return bool(self._account.costs.get(kind))

    def begin(self, cap_usd: float, results: Iterable[CaseResult]) -> None:
        """Begin a session.

        Args:
            cap_usd: What all sessions of the run may cost together.
            results: Of earlier sessions, all tries of agents that may cost something;
                those of sessions without a budget are taken into the account.

        Raises:
            RunStoreError: It cannot be written.
        """
        new = not self.path.exists()
        with self._locked() as fd:
            known = self._account.known_tries()
            entries = [
                entry
                for entry in map(_recorded, results)
                if entry is not None and entry.try_key not in known
            ]
            begins = LedgerEntry(event="session", at=utc_now(), usd=cap_usd)
            self._append(fd, [*entries, begins])
        if new:
            sync_directory(self.path.parent)

    def reserve(
        self,
        job: CaseJob,
        *,
        limit_usd: float | None,
        past_usd: Sequence[float],
        workers: int,
    ) -> str | None:
        """Reserve what a case may cost.

        Args:
            job: Its job.
            limit_usd: What its agent itself ends at; None: nothing.
            past_usd: What such cases cost in earlier runs.
            workers: How many cases run at a time.

        Returns:
            The reservation; None: not now, but when others end there may be room.

        Raises:
            DoesNotFit: There will be no room.
            RunStoreError: The ledger cannot be read or written.
        """
        entry = _of_job(job)
        with self._locked() as fd:
            self._bury_the_dead(fd)
            wished = wish(
                self._account,
                entry.kind,
                limit_usd=limit_usd,
                past_usd=past_usd,
                workers=workers,
            )
            told = {"usd": to_usd(wished.amount), "basis": wished.basis}
            decision = decide(self._account, wished)
            if decision == "wait":
                return None
            if decision == "refuse":
                self._append(fd, [entry.model_copy(update={"event": "refuse", **told})])
                raise DoesNotFit(wished, budget_of(self._account))
            name = secrets.token_hex(8)
            own = {"reservation": name, "owner": _this_process()}
            self._append(fd, [entry.model_copy(update=told | own)])
            return name

    def start(self, reservation: str) -> None:
        """Take it that the agent starts: from now on it may cost something.

        Raises:
            RunStoreError: The ledger cannot be written.
        """
        self._tell("start", reservation)

    def use(self, reservation: str, cost_usd: float) -> None:
        """Take what a running agent says that it cost by now.

        Raises:
            RunStoreError: The ledger cannot be written.
        """
        one = self._account.open.get(reservation)
        if one is None:
            return
        step = max(1, self._account.cap // _STEP)
        if one.used is None or to_nano(cost_usd) - one.used >= step:
            self._tell("use", reservation, usd=cost_usd)

    def settle(self, reservation: str, result: CaseResult | None) -> None:
        """Take what an agent cost in the end.

        Args:
            reservation: Of its case.
            result: None: there is none, and the cost is unknown.

        Raises:
            RunStoreError: The ledger cannot be written.
        """
        if result is not None and _never_started(result):
            self._tell("cancel", reservation)
            return
        judged = result is not None and result.outcome != "error"
        self._tell("settle", reservation, usd=_cost(result), judged=judged)

    def stop(self, reservation: str) -> None:
        """Take it that an agent is ended, as the cap is reached.

        Raises:
            RunStoreError: The ledger cannot be written.
        """
        self._tell("stop", reservation)

    def is_over(self) -> bool:
        """Say whether all that runs is to be ended.

        Raises:
            RunStoreError: The ledger cannot be read.
        """
        with self._locked():
            return self._account.is_over

    def budget(self) -> Budget:
        """Return what it came to by now.

        Raises:
            RunStoreError: The ledger cannot be read.
        """
        with self._locked():
            return budget_of(self._account)

    def _tell(self, event: str, reservation: str, **facts: object) -> None:
        entry = {"event": event, "at": utc_now(), "reservation": reservation, **facts}
        with self._locked() as fd:
            self._append(fd, [LedgerEntry.model_validate(entry)])

    def _bury_the_dead(self, fd: int) -> None:
        """Settle what processes left that were killed: nobody knows the cost."""
        dead = [
            LedgerEntry(event="settle", at=utc_now(), reservation=name, judged=False)
            for name, one in self._account.open.items()
            if not _is_alive(one.entry.owner)
        ]
        if dead:
            self._append(fd, dead)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """Lock the file, and know all that is in it."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                self._catch_up(fd)
                yield fd
            finally:
                os.close(fd)
        except OSError as exc:
            raise RunStoreError(
                self.path,
                f"the budget cannot be kept: {exc.strerror}; no agent is started "
                "without: make room, or choose another place with --codegenie-out",
            ) from exc

    def _append(self, fd: int, entries: Sequence[LedgerEntry]) -> None:
        lines = "".join(f"{_line(entry)}\n" for entry in entries)
        append_whole(fd, lines.encode())
        self._catch_up(fd)

    def _catch_up(self, fd: int) -> None:
        """Read what others have appended."""
        size = os.fstat(fd).st_size
        news = b""
        while len(news) < size - self._read:
            block = os.pread(fd, size - self._read - len(news), self._read + len(news))
            if not block:
                break
            news += block
        whole, newline, _ = news.rpartition(b"\n")
        for line in whole.split(b"\n") if newline else ():
            self._lines += 1
            try:
                self._account.take(LedgerEntry.from_json(line))
            except ValidationError as exc:
                fault = exc.errors(include_url=False)[0]["msg"]
                raise RunStoreError(
                    self.path,
                    f"line {self._lines} is no entry of a budget: {fault}; restore "
                    "the file, or begin a new run: what was spent cannot be told",
                ) from exc
        self._read += len(whole) + len(newline)


def _line(entry: LedgerEntry) -> str:
    return entry.model_dump_json(exclude_defaults=True)


def _of_job(job: CaseJob) -> LedgerEntry:
    return LedgerEntry(
        event="reserve",
        at=utc_now(),
        task_class=job.case.task_class,
        case_id=job.case.case_id,
        agent=job.agent.label,
        agent_name=job.agent.name,
        trial=job.trial,
        attempt=job.attempt,
    )


def _recorded(result: CaseResult) -> LedgerEntry | None:
    """Return the entry of a result that was made without a budget; None: it was free.

    Nothing was reserved for it. So where its cost is unknown nothing can be held; it
    is counted all the same.
    """
    if result.provenance != "run" or _never_started(result):
        return None
    return LedgerEntry(
        event="record",
        at=utc_now(),
        usd=_cost(result),
        judged=result.outcome != "error",
        task_class=result.task_class,
        case_id=result.case_id,
        agent=result.agent,
        agent_name=result.agent_name,
        trial=result.trial,
        attempt=result.attempt,
    )


def _never_started(result: CaseResult) -> bool:
    codes = {mode.code for mode in result.score.failure_modes}
    return result.outcome == "error" and _NEVER_STARTED in codes


def _cost(result: CaseResult | None) -> float | None:
    output = result.output if result is not None else None
    return None if output is None else output.agent.cost_usd


def _this_process() -> str:
    pid = os.getpid()
    return f"{pid}:{_started_at(pid)}"


def _is_alive(owner: str) -> bool:
    """Say whether a process lives, and is the one that it was."""
    pid, _, started_at = owner.partition(":")
    return pid.isdigit() and _started_at(int(pid)) == started_at != ""


def _started_at(pid: int) -> str:
    """Return when a process started, in the kernel's ticks; "" where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 -- often
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    # A zombie has ended, whoever has not heard of it.
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
