"""Bench cases as pytest items, and how a failing one looks.

A result is obtained in the item's set-up, and its call says what the result is: so a
case that could not be judged is pytest's ERROR, and one that the agent did not solve
is pytest's FAILED.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pluggy
import pytest
from _pytest._code.code import ExceptionChainRepr
from _pytest._code.code import ReprFileLocation
from _pytest._code.code import ReprTraceback
from _pytest.outcomes import Failed

from pytest_codegenie.corpus import Complaint
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.models import AgentSpec
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import CaseJob
from pytest_codegenie.models import CaseResult
from pytest_codegenie.reporters.telling import AMBIGUOUS
from pytest_codegenie.reporters.telling import describe
from pytest_codegenie.reporters.telling import result_properties
from pytest_codegenie.session.nodes import CasePlace
from pytest_codegenie.session.nodes import label_item


class CaseFailed(Exception):
    """The agent did not do it."""


class CaseNotJudged(Failed):
    """Whether the agent did it could not be told.

    It comes from an item's set-up, and pytest asks no item how its set-up failed. For
    a ``Failed`` it makes no traceback at least; ``repr_failure`` says it better.
    """

    def __init__(self, text: str, cause: CodegenieError | None = None) -> None:
        super().__init__(text, pytrace=False)
        self.cause = cause


class CorpusFaulty(Exception):
    """A case, or a task class, is not as it should be: its complaints."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        super().__init__(complaints)
        self.complaints = complaints

    @property
    def exit_code(self) -> int:
        """That of ``codegenie verify``."""
        return max(complaint.exit_code for complaint in self.complaints)


class _Item(pytest.Item):
    """What our items have in common: a name with brackets, and no line in a file."""

    def __init__(
        self,
        *,
        name: str,
        parent: pytest.Collector,
        case_id: str | None,
        task_class: Path,
        **arguments: Any,
    ) -> None:
        # As text, which pytest takes apart as it does the node ids in its cache: what
        # it would make of name and parent has no parameters, and --lf compares both.
        nodeid = f"{parent.nodeid}::{name}"
        super().__init__(name=name, parent=parent, nodeid=nodeid, **arguments)
        #: Of its case; None: it is of a task class as a whole.
        self.case_id = case_id
        #: The directory of its task class.
        self.task_class = task_class

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The hooks of what the item is in."""
        assert self.parent is not None
        return self.parent.ihook

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return where the case is: its file, for pytest wants a line of what skips."""
        return self.path, 0, self.name


class CaseItem(_Item):
    """One case, agent and trial."""

    def __init__(
        self,
        *,
        case: BenchCase | None,
        job: Callable[[], CaseJob],
        obtain: Callable[[CaseItem], CaseResult],
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.case = case
        #: Makes the job of this item.
        self.make_job = job
        self._obtain = obtain
        self._result: CaseResult | None = None

    def setup(self) -> None:
        """Obtain the result: run the case.

        Raises:
            CaseNotJudged: There is none to speak of.
        """
        if self.config.getoption("setuponly", False):
            return  # --setup-only, --setup-plan: show what there is, run nothing
        try:
            self._result = self._obtain(self)
        except CodegenieError as exc:
            raise CaseNotJudged(str(exc), exc) from None
        self.user_properties += result_properties(
            self._result, self.make_job().artifacts_directory
        )
        if self._result.outcome == "error":
            lines = describe(self._result, self.make_job().artifacts_directory)
            raise CaseNotJudged("\n".join(lines))

    def runtest(self) -> None:
        """Say what the result is.

        Raises:
            CaseFailed: The agent did not do it.
        """
        if self._result is not None and self._result.outcome == "failed":
            raise CaseFailed

    def teardown(self) -> None:
        """Let go of the result; it is on the disk."""
        self._result = None

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Show the result; what is not ours is shown as pytest does."""
        error = excinfo.value
        if isinstance(error, CaseNotJudged):
            lines = str(error).splitlines()
            return _shown(self, lines[0], lines)
        if isinstance(error, CaseFailed) and self._result is not None:
            lines = describe(self._result, self.make_job().artifacts_directory)
            return _shown(self, lines[0], lines)
        return super().repr_failure(excinfo, style)


class ValidationItem(_Item):
    """One case, or one task class, that is checked itself."""

    def __init__(
        self,
        *,
        check: Callable[[], Sequence[Complaint]],
        case: BenchCase | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        #: None: it is the task class that is checked.
        self.case = case
        self._check = check

    def runtest(self) -> None:
        """Check.

        Raises:
            CorpusFaulty: There are complaints.
        """
        complaints = self._check()
        if complaints:
            raise CorpusFaulty(complaints)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Show the complaints."""
        error = excinfo.value
        if isinstance(error, CorpusFaulty):
            complaints = [str(complaint) for complaint in error.complaints]
            return _shown(self, complaints[0].partition("\n")[0], complaints)
        if isinstance(error, CodegenieError):
            return _shown(self, str(error), [str(error)])
        return super().repr_failure(excinfo, style)


def make_case_item(
    parent: pytest.Collector,
    name: str,
    place: CasePlace,
    *,
    agent: AgentSpec,
    job: Callable[[], CaseJob],
    obtain: Callable[[CaseItem], CaseResult],
) -> CaseItem:
    """Return the item of one case, agent and trial.

    Args:
        parent: The collector of its ``case.toml`` or dataset file.
        name: ``<case id>[<agent>]``.
        place: Of its case; one that does not verify has an item that never runs.
        agent: Who works on it.
        job: Makes its job.
        obtain: Runs an item and returns the recorded result.
    """
    item: CaseItem = CaseItem.from_parent(
        parent,
        name=name,
        case_id=place.case_id,
        task_class=place.task_class,
        case=place.case,
        job=job,
        obtain=obtain,
    )
    case = place.case
    if case is None:
        return item
    label_item(item, case, agent)
    if case.disposition == "ambiguous":
        # Reported, but no verdict of the session.
        item.add_marker(
            pytest.mark.xfail(raises=CaseFailed, reason=AMBIGUOUS, strict=False)
        )
    return item


def _shown(item: pytest.Item, message: str, lines: Sequence[str]) -> ExceptionChainRepr:
    """Return a representation that is text alone: no traceback of ours.

    A chain without entries, because that is what xdist can carry and what the short
    summary and JUnit take the message from.
    """
    traceback = ReprTraceback(reprentries=[], extraline="\n".join(lines), style="short")
    place = ReprFileLocation(str(item.path), 0, message)
    return ExceptionChainRepr([(traceback, place, None)])
