"""What a reporter is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pytest_codegenie.evidence import Group


class Reporter(Protocol):
    """Turns what a run came to into text. It runs nothing and changes nothing."""

    def report(self, groups: Sequence[Group]) -> list[str]:
        """Return the lines of the report.

        Args:
            groups: One for each task class and agent, in the order to show them.
        """
        ...
