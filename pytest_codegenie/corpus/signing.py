"""Signing: writing down that the cases are now as they should be."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.corpus.case_file import read_case_file
from pytest_codegenie.corpus.listing import remember_listing
from pytest_codegenie.corpus.loader import CASES
from pytest_codegenie.corpus.loader import case_directories
from pytest_codegenie.corpus.loader import hash_case
from pytest_codegenie.corpus.loader import id_collisions
from pytest_codegenie.corpus.sheet import FILE_NAME
from pytest_codegenie.corpus.sheet import format_sheet
from pytest_codegenie.corpus.sheet import read_sheet
from pytest_codegenie.documents import write_atomically
from pytest_codegenie.errors import BenchCaseDigestMismatch


@dataclass(frozen=True, slots=True)
class SigningPlan:
    """What signing a task class would change."""

    cases_dir: Path
    #: Case id to digest, before and after.
    before: dict[str, str]
    after: dict[str, str]

    @property
    def changes(self) -> list[str]:
        """One line for each entry that is added, changed or removed, by case id."""
        lines = []
        for case_id in sorted(self.before.keys() | self.after.keys()):
            old, new = self.before.get(case_id), self.after.get(case_id)
            if old is None:
                lines.append(f"new      {case_id}  {new}")
            elif new is None:
                lines.append(f"removed  {case_id}  {old}")
            elif old != new:
                lines.append(f"changed  {case_id}  {old} -> {new}")
        return lines


def plan_signing(task_class_dir: Path) -> SigningPlan:
    """Compute the digest of every case; write nothing.

    Raises:
        BenchCaseLoadError: A case, or a ``digests.yaml`` that is there, cannot be read.
        BenchCaseDigestMismatch: A ``case.toml`` has another digest.
        BenchCaseIDCollision: Two ids differ by case only.
    """
    task_class_dir = task_class_dir.absolute()
    cases_dir = task_class_dir / CASES
    directories = case_directories(cases_dir)
    for collision in id_collisions(directories):
        raise collision
    after = {}
    for directory in directories:
        digest = hash_case(directory).digest
        case = read_case_file(directory, task_class=task_class_dir.name, digest=digest)
        if case.case_digest != digest:
            raise BenchCaseDigestMismatch(
                case.case_id,
                case.case_digest,
                digest,
                directory=directory,
                source="case.toml",
            )
        after[directory.name] = digest
    before = read_sheet(cases_dir) if (cases_dir / FILE_NAME).exists() else {}
    return SigningPlan(cases_dir, before, after)


def sign(plan: SigningPlan, *, in_order: bool = False) -> None:
    """Make the plan's changes in ``digests.yaml``, in one step.

    Comments, the order of the entries and what another process signed since the plan
    was made stay.

    Args:
        plan: The changes.
        in_order: As for ``format_sheet``.

    Raises:
        BenchCaseLoadError: ``digests.yaml`` is there and cannot be used.
        OSError: It cannot be written; the file is as it was.
    """
    path = plan.cases_dir / FILE_NAME
    with _alone_in(plan.cases_dir):
        digests, old_text = {}, ""
        if path.exists():
            digests = read_sheet(plan.cases_dir)
            old_text = path.read_text(encoding="utf-8")
        for case_id in plan.before.keys() - plan.after.keys():
            digests.pop(case_id, None)
        digests |= {
            case_id: digest
            for case_id, digest in plan.after.items()
            if plan.before.get(case_id) != digest
        }
        write_atomically(path, format_sheet(old_text, digests, in_order=in_order))
    for case_id, digest in plan.after.items():
        remember_listing(plan.cases_dir / case_id, digest)


@contextlib.contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Hold off every other signer of the directory for the block."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
