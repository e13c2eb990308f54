"""One budget for all agents of a run: what is spent, held and free, and who may start.

An agent starts with a reservation, which is settled by the cost that it reports. A cost
that nobody reports is unknown: its reservation stays held, as that much may be spent.
So what is spent, held and reserved together never exceeds the cap, and costs do as far
as reservations hold: an agent that takes more than was reserved for it is seen while it
runs, if it tells, and at its end. All of this is computed from the entries of a ledger;
``ledger.py`` keeps that in a file.

Amounts are whole billionths of a US dollar, so that shares add up to what they are
shares of. Entries have dollars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Literal
from typing import NamedTuple

from pydantic import AwareDatetime

from pytest_codegenie.evidence.history import Kind
from pytest_codegenie.evidence.store import ResultKey
from pytest_codegenie.models import NonNegative
from pytest_codegenie.models import Record


_PER_USD = 10**9
#: A reservation is what 9 of 10 such cases cost no more than; of fewer than 10 that is
#: the dearest. The mean would be too little for half of them, and an agent whose
#: reservation is too small may be ended without a verdict. The maximum of many would
#: let one case that went astray hold back money for which several could run.
_SHARE_COVERED = 0.9


class LedgerEntry(Record):
    """One line of ``budget.jsonl``."""

    #: ``session``: a session begins, with ``usd`` as its cap. ``record``: a result of
    #: an earlier session without a budget. ``reserve``, ``start``, ``use`` (so far),
    #: ``settle``: of one reservation, in this order; ``usd`` is missing where a cost
    #: is unknown. ``cancel``, instead of ``settle``: the agent did not start after all.
    #: ``stop``: it was ended. ``refuse``: a case is not run.
    event: Literal[
        "session",
        "record",
        "reserve",
        "start",
        "use",
        "settle",
        "cancel",
        "stop",
        "refuse",
    ]
    at: AwareDatetime
    usd: NonNegative | None = None
    reservation: str = ""
    #: Of a ``reserve``: which process it is for.
    owner: str = ""
    #: Of a ``reserve`` and a ``refuse``: where the amount comes from.
    basis: str = ""
    task_class: str = ""
    case_id: str = ""
    #: Of a ``record`` and a ``settle``: it came to a verdict, so that its cost says
    #: something of others'.
    judged: bool = True
    #: The agent's label.
    agent: str = ""
    agent_name: str = ""
    trial: int = 1
    attempt: int = 1

    @property
    def kind(self) -> Kind:
        """What costs are expected to be alike."""
        return Kind(self.task_class, self.agent, self.agent_name)

    @property
    def try_key(self) -> tuple[ResultKey, int]:
        """Which try of which item it is of."""
        key = ResultKey(self.task_class, self.case_id, self.agent, self.trial)
        return key, self.attempt


def to_nano(usd: float) -> int:
    """Return dollars in billionths, to the nearest."""
    return round(usd * _PER_USD)


def to_usd(nano: int) -> float:
    """Return billionths in dollars."""
    return nano / _PER_USD


@dataclass(slots=True)
class Reservation:
    """What is set aside for an agent that runs, or is about to."""

    entry: LedgerEntry
    amount: int
    #: Its agent was started, so it may have cost something.
    started: bool = False
    #: What it has told that it used by now; None: nothing yet.
    used: int | None = None

    @property
    def may_cost(self) -> int:
        """What it may come to, as far as is known."""
        return max(self.amount, self.used or 0)

    @property
    def runs_at(self) -> int:
        """What it has come to: as it tells, or all that is reserved."""
        return self.amount if self.used is None else self.used


@dataclass(slots=True)
class Account:
    """What the entries of a ledger come to."""

    #: Of the session that began last.
    cap: int = 0
    #: Costs that were reported.
    spent: int = 0
    #: For costs that nobody reported.
    held: int = 0
    #: How many costs nobody reported.
    unknown: int = 0
    #: By id.
    open: dict[str, Reservation] = field(default_factory=dict)
    #: Costs that were reported for verdicts, in this run.
    costs: dict[Kind, list[int]] = field(default_factory=dict)
    #: Tries whose cost, known or not, was settled.
    settled: set[tuple[ResultKey, int]] = field(default_factory=set)
    #: Since the last session began: agents ended, and cases not run.
    stopped: int = 0
    refused: int = 0

    @property
    def left(self) -> int:
        """Return what is neither spent nor held."""
        return self.cap - self.spent - self.held

    @property
    def free(self) -> int:
        """Return what can be reserved."""
        return self.left - sum(one.may_cost for one in self.open.values())

    @property
    def is_over(self) -> bool:
        """What is spent and held, and what runs, exceeds the cap."""
        return sum(one.runs_at for one in self.open.values()) > self.left

    def known_tries(self) -> set[tuple[ResultKey, int]]:
        """Return the tries whose cost is in the account, if only as a reservation."""
        return self.settled | {one.entry.try_key for one in self.open.values()}

    def take(self, entry: LedgerEntry) -> None:
        """Add the next entry."""
        match entry.event:
            case "session":
                self._begin(to_nano(entry.usd or 0))
            case "record":
                self._settle(entry, entry.usd, 0, judged=entry.judged)
            case "reserve":
                amount = to_nano(entry.usd or 0)
                self.open[entry.reservation] = Reservation(entry, amount)
            case "start" | "use" | "settle" | "cancel" | "stop":
                self._take_news(entry)
            case "refuse":
                self.refused += 1

    def _begin(self, cap: int) -> None:
        # One session at a time works on a run: what is open was killed.
        for name in list(self.open):
            self._close(name, None, judged=False)
        self.cap = cap
        self.stopped = self.refused = 0

    def _take_news(self, entry: LedgerEntry) -> None:
        one = self.open.get(entry.reservation)
        if one is None:
            return
        if entry.event == "start":
            one.started = True
        elif entry.event == "use":
            one.used = max(one.used or 0, to_nano(entry.usd or 0))
        elif entry.event == "stop":
            self.stopped += 1
        elif entry.event == "cancel":
            del self.open[entry.reservation]
        else:
            self._close(entry.reservation, entry.usd, judged=entry.judged)

    def _close(self, name: str, usd: float | None, *, judged: bool) -> None:
        one = self.open.pop(name)
        if usd is not None and one.used is not None:
            usd = max(usd, to_usd(one.used))  # what was told before has been spent
        if one.started:
            self._settle(one.entry, usd, one.may_cost, judged=judged)

    def _settle(
        self, entry: LedgerEntry, usd: float | None, held: int, *, judged: bool
    ) -> None:
        self.settled.add(entry.try_key)
        if usd is None:
            self.unknown += 1
            self.held += held
        else:
            self.spent += to_nano(usd)
            if judged:
                self.costs.setdefault(entry.kind, []).append(to_nano(usd))


class Wish(NamedTuple):
    """What an agent needs before it may start."""

    amount: int
    #: Where the amount comes from, in words.
    basis: str
    #: It will not change while others run.
    is_fixed: bool


def wish(
    account: Account,
    kind: Kind,
    *,
    limit_usd: float | None,
    past_usd: Sequence[float],
    workers: int,
) -> Wish:
    """Return what is to be reserved for a case.

    Args:
        account: As it is now.
        kind: Of the case.
        limit_usd: What the agent itself ends at; None: nothing.
        past_usd: What such cases cost in earlier runs.
        workers: How many cases run at a time.
    """
    if limit_usd is not None:
        return Wish(to_nano(limit_usd), "the agent's own limit", is_fixed=True)
    costs = account.costs.get(kind)
    if costs:
        return Wish(_covering(costs), "what such cases cost in this run", False)
    if past_usd:
        past = [to_nano(cost) for cost in past_usd]
        return Wish(_covering(past), "what such cases cost in earlier runs", False)
    share = max(0, account.left) // max(1, workers)
    # Of nothing there is no share that an agent could start with.
    return Wish(max(1, share), "an equal share, as nothing is known", False)


def _covering(costs: Sequence[int]) -> int:
    """Return the cost that 9 of 10 do not exceed, by nearest rank."""
    return sorted(costs)[math.ceil(_SHARE_COVERED * len(costs)) - 1]


def decide(account: Account, wished: Wish) -> Literal["start", "wait", "refuse"]:
    """Say whether a case may start, or what else becomes of it."""
    if wished.amount <= account.free:
        return "start"
    if not account.open or (wished.is_fixed and wished.amount > account.left):
        return "refuse"
    return "wait"


class Budget(Record):
    """What a budget came to, in dollars."""

    cap_usd: NonNegative
    spent_usd: NonNegative
    #: For costs that nobody reported.
    held_usd: NonNegative
    #: How many results have no cost, though their agent ran.
    unknown: int
    #: In the last session: agents that were ended, cases that were not run.
    stopped: int
    refused: int

    @property
    def was_reached(self) -> bool:
        """In the last session an agent was ended, or a case was not run."""
        return bool(self.stopped or self.refused)


def budget_of(account: Account) -> Budget:
    """Return what an account comes to; what is open is taken as it would be held."""
    open_ones = [one for one in account.open.values() if one.started]
    return Budget(
        cap_usd=to_usd(account.cap),
        spent_usd=to_usd(account.spent),
        held_usd=to_usd(account.held + sum(one.may_cost for one in open_ones)),
        unknown=account.unknown + len(open_ones),
        stopped=account.stopped,
        refused=account.refused,
    )
