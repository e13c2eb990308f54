"""What verifying an audit chain finds: what holds, and what could not be verified."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import NamedTuple

from pytest_codegenie.evidence.audit.chain import GENESIS


#: Run id, task class and agent.
Group = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be verified, though nothing says that it is wrong."""

    #: ``run-gone``, ``run-unrecorded``, ``results-unrecorded``, ``report-missing``,
    #: ``report-behind``, ``corpus-changed``, ``case-gone``, ``not-derived``, ``torn``.
    kind: str
    #: A sentence.
    what: str


class Recorded(NamedTuple):
    """What is kept of a record while the chain is gone over."""

    number: int
    head: str
    group: Group
    #: How many it is made of.
    results: int


@dataclass(slots=True)
class Audit:
    """What was found in a chain that verifies."""

    head: str = GENESIS
    records: int = 0
    #: Records whose report says that every selected case was judged.
    complete: int = 0
    incomplete: int = 0
    #: Records that were derived anew, and the results that they are made of.
    derived: int = 0
    results: int = 0
    gaps: list[Gap] = field(default_factory=list)
    #: By head, in the order of the chain.
    heads: dict[str, Recorded] = field(default_factory=dict)
    #: The last record of each.
    latest: dict[Group, Recorded] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """How many runs have a record."""
        return len({run_id for run_id, *_ in self.latest})
