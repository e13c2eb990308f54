"""What a build's agent costs: each try counts on from the ones before it."""

from __future__ import annotations

from pathlib import Path

from pytest_codegenie.harness.spending import Spending


class TrySpending(Spending):
    """One try, held to what the build has left, and to the budget of a run beside that.

    Args:
        stop: A path that is free; a file is made there to have the agent ended.
        left_usd: What the build has left; None: it has no cap.
        spent_usd: What earlier tries of this process have cost.
        run: What counts for the run that the build is a case of; None: it is none.
    """

    def __init__(
        self,
        stop: Path,
        left_usd: float | None,
        spent_usd: float = 0.0,
        run: Spending | None = None,
    ) -> None:
        self._left = left_usd
        self._spent = spent_usd
        self._run = run
        in_run = None if run is None else run.stop
        self.stop = stop if left_usd is not None and in_run is None else in_run
        self.known_usd = None
        #: The build's own cap ended it.
        self.is_over = False

    @property
    def is_limited(self) -> bool:
        """There is a cap or a budget."""
        return self.stop is not None

    def start(self) -> None:
        """Tell that the agent starts."""
        if self._run is not None:
            self._run.start()

    def end(self) -> None:
        """Tell that the agent was ended."""
        if self._run is not None and not self.is_over:
            self._run.end()

    def tell(self, cost_usd: float | None) -> None:
        """Tell what the try cost by now."""
        if cost_usd is None or not 0 <= cost_usd < float("inf"):
            return
        self.known_usd = max(cost_usd, self.known_usd or 0.0)
        if self._run is not None:
            self._run.tell(self._spent + self.known_usd)

    def check(self) -> None:
        """Have the agent ended where the cap, or the run's, is reached."""
        if self._run is not None:
            self._run.check()
        if self._left is None or self.stop is None or self.stop.exists():
            return
        if self.known_usd is not None and self.known_usd >= self._left:
            self.is_over = True
            self.stop.touch()
