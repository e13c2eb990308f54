"""Which results of two runs belong together, and how they compare, group by group.

A group is one task class and agent of a run. ``compare`` knows two groups; here is
what finds them: the same group of two runs, or agents of different names.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import NamedTuple

from pytest_codegenie.errors import RunStoreError
from pytest_codegenie.errors import relative
from pytest_codegenie.evidence.comparison import Comparison
from pytest_codegenie.evidence.comparison import compare
from pytest_codegenie.evidence.store import RESULTS
from pytest_codegenie.evidence.store import read_plain_results
from pytest_codegenie.evidence.stored import StoredRun


class GroupKey(NamedTuple):
    """One task class and agent of a run."""

    task_class: str
    #: The agent's label.
    agent: str

    def __str__(self) -> str:
        return f"{self.task_class} [{self.agent}]"


@dataclass(frozen=True, slots=True)
class RunGroups:
    """The results of a run, as far as a comparison needs them."""

    run_id: str
    directory: Path
    groups: Mapping[GroupKey, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A group that only one side has."""

    task_class: str
    agent: str
    #: ``before`` or ``after``.
    side: str

    def __str__(self) -> str:
        return str(GroupKey(self.task_class, self.agent))


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One side's run."""

    run_id: str
    #: As a person would type it.
    directory: str
    #: What is missing from it; "" for nothing.
    shortfall: str


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs, or two agents of one, group by group."""

    before: ComparedRun
    after: ComparedRun
    #: Sorted by task class and agent; some may compare no case.
    comparisons: tuple[Comparison, ...]
    unpaired: tuple[Unpaired, ...]

    @property
    def cases(self) -> int:
        """How many cases were compared, in all groups."""
        return sum(one.cases for one in self.comparisons)

    @property
    def why_nothing(self) -> str:
        """Say why not a single case was compared; "" where one was."""
        if self.cases:
            return ""
        if not self.comparisons:
            return (
                "they have no task class and agent in common: before has "
                f"{self._only('before')}, after has {self._only('after')}"
            )
        return why_no_case(self.comparisons)

    def _only(self, side: str) -> str:
        groups = (one for one in self.unpaired if one.side == side)
        return ", ".join(str(one) for one in groups) or "none"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON."""
        return {
            "before": dataclasses.asdict(self.before),
            "after": dataclasses.asdict(self.after),
            "comparisons": [one.to_dict() for one in self.comparisons],
            "unpaired": [dataclasses.asdict(one) for one in self.unpaired],
        }


def why_no_case(comparisons: Iterable[Comparison]) -> str:
    """Say why cases could not be compared, each reason with how many have it."""
    reasons = Counter(case.reason for one in comparisons for case in one.not_compared)
    each = (f"{reason} ({count})" for reason, count in reasons.most_common())
    return f"no case can be compared: {'; '.join(each)}"


def read_groups(run: StoredRun) -> RunGroups:
    """Return the results of a run by group.

    Raises:
        RunStoreError: A result cannot be read.
    """
    groups: dict[GroupKey, list[Mapping[str, Any]]] = {}
    for number, result in enumerate(read_plain_results(run.directory), 1):
        try:
            kept = _kept(result) | {"run_id": run.record.run_id}
            key = GroupKey(str(result["task_class"]), str(result["agent"]))
        except (AttributeError, LookupError, TypeError) as exc:
            reason = " ".join(f"{type(exc).__name__}: {exc}".split())
            raise RunStoreError(
                run.directory / RESULTS, f"result {number} is none: {reason:.200}"
            ) from exc
        groups.setdefault(key, []).append(kept)
    return RunGroups(run.record.run_id, run.directory, groups)


_KEPT = (
    *("task_class", "agent", "case_id", "trial", "outcome", "disposition"),
    *("case_digest", "rubric_digest"),
)


def _kept(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a comparison needs: a result may hold a megabyte beside it."""
    kept = {key: result[key] for key in _KEPT}
    return kept | {"score": {"score": result["score"]["score"]}}


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which groups are compared, and which have no counterpart."""

    pairs: tuple[tuple[GroupKey, GroupKey], ...]
    unpaired: tuple[Unpaired, ...]


def pair_groups(
    before: Iterable[GroupKey],
    after: Iterable[GroupKey],
    agents: Sequence[tuple[str, str]] = (),
) -> Pairing:
    """Return which groups belong together, sorted.

    Args:
        before: Of the one side.
        after: Of the other.
        agents: Labels before and after that are compared; none: equal ones.
    """
    old, new = set(before), set(after)
    if not agents:
        labels = {key.agent for key in old | new}
        agents = [(label, label) for label in sorted(labels)]
    pairs: list[tuple[GroupKey, GroupKey]] = []
    unpaired: dict[Unpaired, None] = {}
    for task_class in sorted({key.task_class for key in old | new}):
        for first, second in agents:
            a, b = GroupKey(task_class, first), GroupKey(task_class, second)
            if a in old and b in new:
                pairs.append((a, b))
            elif a in old:
                unpaired[Unpaired(*a, "before")] = None
            elif b in new:
                unpaired[Unpaired(*b, "after")] = None
    return Pairing(tuple(pairs), tuple(unpaired))


def compare_runs(
    before: RunGroups,
    after: RunGroups,
    *,
    agents: Sequence[tuple[str, str]] = (),
    shortfalls: tuple[str, str] = ("", ""),
) -> RunComparison:
    """Compare each group that both runs have.

    Args:
        before: The one run.
        after: The other, or the same with other agents.
        agents: Labels before and after that are compared; none: equal ones.
        shortfalls: What is missing from each run.
    """
    pairing = pair_groups(before.groups, after.groups, agents)
    return RunComparison(
        before=ComparedRun(before.run_id, relative(before.directory), shortfalls[0]),
        after=ComparedRun(after.run_id, relative(after.directory), shortfalls[1]),
        comparisons=tuple(
            compare(before.groups[a], after.groups[b]) for a, b in pairing.pairs
        ),
        unpaired=pairing.unpaired,
    )
