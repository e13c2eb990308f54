"""The cases of a task class while an import adds to them: whole ones only."""

from __future__ import annotations

from pathlib import Path

from pytest_codegenie.corpus import SigningPlan
from pytest_codegenie.corpus import case_directories
from pytest_codegenie.corpus import sign
from pytest_codegenie.corpus.sheet import FILE_NAME
from pytest_codegenie.corpus.sheet import read_sheet
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.importing.preparing import STAGING
from pytest_codegenie.importing.preparing import Prepared
from pytest_codegenie.trees import remove_tree


#: Cases that are there, and are not signed yet, at the least when they are.
_BATCH = 64


class Shelf:
    """``cases/`` of a task class, for one import that has it alone.

    Cases are signed in batches that get larger, for each one writes the whole sheet.
    """

    def __init__(self, cases_dir: Path) -> None:
        """Look at what is there, and remove what killed imports have left.

        Raises:
            BenchCaseLoadError: ``digests.yaml`` is there and cannot be used.
        """
        self.cases_dir = cases_dir
        has_sheet = (cases_dir / FILE_NAME).exists()
        self._signed = read_sheet(cases_dir) if has_sheet else {}
        self._there = {
            path.name.casefold(): path.name for path in case_directories(cases_dir)
        }
        self._claimed: dict[str, Prepared] = {}
        self._pending: dict[str, str] = {}
        self.remove_staged()

    def remove_staged(self) -> None:
        """Remove cases that did not get to their places."""
        remove_tree(self.cases_dir / STAGING)

    def put(self, case: Prepared) -> Prepared:
        """Move a case to its place, whole, or leave the one that is there.

        Returns:
            The case, in the state that it turned out to be in.

        Raises:
            DatasetError: Another case has its id.
            BenchCaseLoadError: ``digests.yaml`` cannot be used any more.
            OSError: It cannot be moved or signed.
        """
        self._claim(case)
        if case.state == "differs":
            return case
        known = self._signed.get(case.case_id)
        if case.state == "kept" and known not in (None, case.digest):
            # Somebody signed something else under this id; vouching for it is theirs.
            return Prepared(
                case.case_id,
                case.instance_id,
                case.place,
                "differs",
                differs=(FILE_NAME,),
            )
        if case.staged is not None:
            self._move(case.staged, case.case_id)
        if known != case.digest:
            self._pending[case.case_id] = case.digest
        if len(self._pending) >= max(_BATCH, len(self._signed) // 2):
            self.sign()
        return case

    def sign(self) -> None:
        """Sign what was put here, and nothing else.

        Raises:
            BenchCaseLoadError: ``digests.yaml`` cannot be used any more.
            OSError: It cannot be written.
        """
        if self._pending:
            plan = SigningPlan(self.cases_dir, before={}, after=self._pending)
            # So that a killed import, gone on with, gives the same bytes.
            sign(plan, in_order=True)
            self._signed |= self._pending
            self._pending = {}

    def _claim(self, case: Prepared) -> None:
        folded = case.case_id.casefold()
        first = self._claimed.setdefault(folded, case)
        if first is not case:
            raise DatasetError(
                case.place,
                "instance_id",
                f"the case id {case.case_id!r} is also that of {first.place}; ids are "
                "compared without case: rename one, or import them into two task "
                "classes",
            )
        there = self._there.get(folded, case.case_id)
        if there != case.case_id:
            raise DatasetError(
                case.place,
                "instance_id",
                f"{relative(self.cases_dir / there)} differs from the case id "
                f"{case.case_id!r} by case only; import into another task class",
            )

    def _move(self, staged: Path, case_id: str) -> None:
        target = self.cases_dir / case_id
        if target.exists():
            # A directory cannot take the place of one that holds something.
            target.rename(self.cases_dir / STAGING / f".before-{case_id}")
        staged.rename(target)
