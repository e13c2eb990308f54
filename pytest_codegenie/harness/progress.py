"""Where a case that runs is, told to whoever watches; nothing where nobody does."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pytest_codegenie.models import NonNegative
from pytest_codegenie.models import Record


#: An agent's numbers are told no more often than anybody looks.
_PAUSE_SECONDS = 0.2


class CaseProgress(Record):
    """What is known of a case while it runs."""

    phase: str = ""
    #: None: the agent has not said.
    tokens: Annotated[int, Field(ge=0)] | None = None
    cost_usd: NonNegative | None = None


class Progress:
    """Tells how far a case is, in a small file that another process reads.

    Nothing here raises: no result may depend on whether somebody watches.

    Args:
        path: The file, whose directory exists; None: nobody watches.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known = CaseProgress()
        self._told_at = float("-inf")

    @property
    def is_watched(self) -> bool:
        """Somebody reads what is told."""
        return self._path is not None

    def enter(self, phase: str) -> None:
        """Tell that a phase begins."""
        if self._path is not None and phase != self._known.phase:
            self._known = self._known.model_copy(update={"phase": phase})
            self._tell()

    def update(
        self, *, tokens: int | None = None, cost_usd: float | None = None
    ) -> None:
        """Tell what the agent has used by now, of all its work; None: as before.

        It may be called as often as there is news: some of it is told later.
        """
        if self._path is None:
            return
        news = {"tokens": tokens, "cost_usd": cost_usd}
        told = {key: value for key, value in news.items() if value is not None}
        with contextlib.suppress(ValueError):
            self._known = CaseProgress(**{**self._known.model_dump(), **told})
        if time.monotonic() - self._told_at >= _PAUSE_SECONDS:
            self._tell()

    def _tell(self) -> None:
        assert self._path is not None
        self._told_at = time.monotonic()
        temporary = self._path.with_name(f".{os.getpid()}.{self._path.name}")
        with contextlib.suppress(OSError, ValueError):
            temporary.write_bytes(self._known.to_json().encode())
            temporary.replace(self._path)


def read_progress(path: Path) -> CaseProgress:
    """Return what a case has told; nothing is known where there is no such file."""
    try:
        return CaseProgress.from_json(path.read_bytes())
    except (OSError, ValueError):
        return CaseProgress()
