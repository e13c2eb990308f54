"""What a reporter is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from pytest_codegenie.evidence import StoredRun


@dataclass(frozen=True, slots=True)
class Form:
    """What the place where a report is going to be read can take."""

    #: How wide lines may be, where the format has lines that can be broken.
    columns: int = 80
    #: Whether it shows colours, by escape sequences.
    colours: bool = False
    #: So many bytes of UTF-8 at most; None: any. A format that can be cut says in the
    #: text that it was.
    max_bytes: int | None = None


class Reporter(Protocol):
    """Turns a run into text. It runs nothing and changes nothing.

    The run may be finished, cut off, or still going on: a report says so. It sees the
    run store alone, so that it can be made again at any time.
    """

    #: As in ``codegenie report --format`` and ``--codegenie-reporter``.
    name: str
    #: In a run's directory the report is ``report.<suffix>``.
    suffix: str

    def report(self, run: StoredRun, form: Form) -> Iterable[str]:
        """Return the report, in pieces that follow one another.

        Args:
            run: The record and the results. What an agent, a test or a rubric says in
                them is somebody else's text: it may hold anything.
            form: What the reader can take.

        Raises:
            RunStoreError: A result cannot be read.
        """
        ...
