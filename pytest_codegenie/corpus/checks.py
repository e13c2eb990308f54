"""What can be said of a corpus without running anything: all complaints at once."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.corpus.loader import CASES
from pytest_codegenie.corpus.loader import REGISTRATION
from pytest_codegenie.corpus.loader import CaseListing
from pytest_codegenie.corpus.loader import list_cases
from pytest_codegenie.corpus.loader import load_case
from pytest_codegenie.corpus.loader import read_task_class
from pytest_codegenie.corpus.task import read_task
from pytest_codegenie.errors import CodegenieError
from pytest_codegenie.errors import relative
from pytest_codegenie.models import BenchCase
from pytest_codegenie.registry import TaskClass


#: The directory contract, beside registration.py and cases/.
REQUIRED = (
    "rubric.py",
    "breakdown_keys.py",
    "failure_modes.yaml",
    "README.md",
    "tests",
)
#: Where a project has no tiers of its own: each with the number of held-out cases,
#: that no corpus was made from, which a task class needs to declare it.
TIERS: Mapping[str, int] = {"bronze": 0, "silver": 5, "gold": 5, "platinum": 5}


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something wrong with a corpus: where, what, and what to do about it."""

    place: str
    fault: str
    remedy: str
    exit_code: int = 6

    def __str__(self) -> str:
        remedy = f"\n    {self.remedy}" if self.remedy else ""
        return f"{self.place}: {self.fault}{remedy}" if self.place else self.fault


def check_task_class(
    directory: Path, *, tiers: Mapping[str, int] = TIERS
) -> tuple[list[Complaint], tuple[BenchCase, ...]]:
    """Return every complaint about a task class, and the cases that verify.

    Args:
        directory: Of the task class.
        tiers: Those it may declare, lowest first, each with the held-out cases that
            it needs.
    """
    complaints: list[Complaint] = []
    complaints += _missing_parts(directory)
    complaints += _literal_name(directory)
    task_class: TaskClass | None = None
    with _noting(complaints):
        task_class = read_task_class(directory)
    listing: CaseListing | None = None
    with _noting(complaints):
        listing = list_cases(directory)
    cases: list[BenchCase] = []
    if listing is not None:
        for problem in listing.problems:
            complaints.append(Complaint("", str(problem), "", problem.exit_code))
        for path in listing.directories:
            with _noting(complaints):
                cases.append(load_case(path, listing.digests))
    for case in cases:
        with _noting(complaints):
            read_task(case)
        complaints += _case_parts(case)
    if task_class is not None:
        complaints += _tiers(directory, task_class, cases, tiers)
    return complaints, tuple(cases)


@contextlib.contextmanager
def _noting(complaints: list[Complaint]) -> Iterator[None]:
    """Turn an error in the block into a complaint; its message has it all."""
    try:
        yield
    except CodegenieError as exc:
        complaints.append(Complaint("", str(exc), "", exc.exit_code))


def _missing_parts(directory: Path) -> Iterator[Complaint]:
    for name in REQUIRED:
        if not (directory / name).exists():
            yield Complaint(
                relative(directory / name),
                "missing",
                "a task class holds it; 'codegenie new task-class' shows one that is "
                "whole",
                9,
            )


def _literal_name(directory: Path) -> Iterator[Complaint]:
    """The name must be readable without running the module."""
    path = directory / REGISTRATION
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # reading the task class says so
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _called_name(node) == "register_task_class"
    ]
    if len(calls) != 1:
        yield Complaint(
            relative(path),
            f"has {len(calls)} calls of register_task_class",
            f'keep exactly one: @register_task_class("{directory.name}", ...)',
            9,
        )
    for call in calls:
        name = _name_argument(call)
        if not (isinstance(name, ast.Constant) and name.value == directory.name):
            yield Complaint(
                f"{relative(path)}:{call.lineno}",
                "the registered name is no literal, or not the directory's name",
                f'write @register_task_class("{directory.name}", ...)',
                9,
            )


def _called_name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _name_argument(call: ast.Call) -> ast.expr | None:
    if call.args:
        return call.args[0]
    return next((item.value for item in call.keywords if item.arg == "name"), None)


def _case_parts(case: BenchCase) -> Iterator[Complaint]:
    gold = case.expected_dir / "gold.patch"
    solution = case.expected_dir / "solution"
    solved = gold.is_file() or solution.is_dir()
    if case.disposition == "positive" and not solved:
        yield Complaint(
            relative(gold),
            "missing, though the case is positive",
            "add the reference solution as a git diff; the oracle applies it",
        )
    if case.disposition == "negative" and gold.exists():
        yield Complaint(
            relative(gold),
            "present, though the case is negative: the right answer is no change",
            "delete it, or make the case positive",
        )


def _tiers(
    directory: Path,
    task_class: TaskClass,
    cases: list[BenchCase],
    tiers: Mapping[str, int],
) -> Iterator[Complaint]:
    place = relative(directory / REGISTRATION)
    declared = task_class.min_cases_for_promotion
    for tier, count in declared.items():
        if tier not in tiers or type(count) is not int or count < 1:
            yield Complaint(
                place,
                f"min_cases_for_promotion: {tier!r}: {count!r} is no tier with a "
                "number of cases",
                f"use some of {', '.join(tiers)}, each with a whole number above 0",
                9,
            )
    needed = {tier: count for tier, count in tiers.items() if tier in declared}
    most = max(needed, key=needed.__getitem__, default="")
    held_out = sum(case.curation_class == "held-out" for case in cases)
    if most and held_out < needed[most]:
        yield Complaint(
            relative(directory / CASES),
            f"{held_out} held-out cases, but {place} declares the tier {most!r}, "
            f"which takes {needed[most]}",
            f"add held-out cases until there are {needed[most]}, or drop the tier",
        )
