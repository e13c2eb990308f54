"""What an agent costs while it works, told to the run's budget, if there is one."""

from __future__ import annotations

import math
from pathlib import Path

from pytest_codegenie.evidence.budget.ledger import Ledger
from pytest_codegenie.models import CaseJob


class Spending:
    """One agent at work on the reservation of its job; without one, all is nothing.

    Args:
        job: Of the agent.
        stop: A path that is free; a file is made there to have the agent ended.
    """

    def __init__(self, job: CaseJob, stop: Path) -> None:
        self._reservation = job.reservation
        self._ledger = Ledger(job.budget_path) if job.budget_path else None
        #: What ends the agent, once it is there; None: nothing does.
        self.stop = stop if self._ledger is not None else None
        #: What the agent has told by now.
        self.known_usd: float | None = None

    @property
    def is_limited(self) -> bool:
        """There is a budget."""
        return self._ledger is not None

    def start(self) -> None:
        """Tell that the agent starts.

        Raises:
            RunStoreError: It cannot be recorded, so the agent may not start.
        """
        if self._ledger is not None:
            self._ledger.start(self._reservation)

    def end(self) -> None:
        """Tell that the agent was ended, as the cap is reached.

        Raises:
            RunStoreError: It cannot be recorded.
        """
        if self._ledger is not None:
            self._ledger.stop(self._reservation)

    def tell(self, cost_usd: float | None) -> None:
        """Tell what it cost by now.

        Args:
            cost_usd: None: the agent has not said.

        Raises:
            RunStoreError: It cannot be recorded.
        """
        # An adapter is anybody's code.
        if cost_usd is None or not 0 <= cost_usd < math.inf:
            return
        self.known_usd = max(cost_usd, self.known_usd or 0.0)
        if self._ledger is not None:
            self._ledger.use(self._reservation, self.known_usd)

    def check(self) -> None:
        """Have the agent ended where the run's cap is reached.

        Raises:
            RunStoreError: The ledger cannot be read.
        """
        if self._ledger is not None and self.stop is not None:
            if not self.stop.exists() and self._ledger.is_over():
                self.stop.touch()
