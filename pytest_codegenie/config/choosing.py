"""Entries of lists that one place names and another describes: agents, datasets."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic
from typing import TypeVar

from pytest_codegenie.config.record import DatasetSpec
from pytest_codegenie.models import AgentSpec


_Entry = TypeVar("_Entry", bound=AgentSpec | DatasetSpec)


@dataclass(frozen=True, slots=True)
class Said(Generic[_Entry]):
    """An entry, and where it stands."""

    entry: _Entry
    origin: str


def choose_agents(places: Sequence[Sequence[Said[AgentSpec]]]) -> list[Said[AgentSpec]]:
    """Take the agents of the first place, filled in from the later ones.

    ``--codegenie-agent claude-code:opus-high`` selects the agent of that label, whose
    options stand in the run file; ``claude-code`` alone selects the one that has no
    label of its own there, or else all of that name.
    """
    return _choose(
        places,
        is_bare=lambda agent: agent == AgentSpec(name=agent.name, label=agent.label),
        key=lambda agent: (agent.name, agent.label),
        stands_for_all=lambda agent: agent.label == agent.name,
        distinct=lambda agent: agent.label,
    )


def choose_datasets(
    places: Sequence[Sequence[Said[DatasetSpec]]],
) -> list[Said[DatasetSpec]]:
    """Take the datasets of the first place, filled in from the later ones, likewise.

    ``--codegenie-dataset NAME:SPLIT`` takes the limit and the ids that the run file
    gives that split of it; ``NAME`` alone selects the entry without a split there, or
    else all of that name.
    """
    return _choose(
        places,
        is_bare=lambda one: one == DatasetSpec(name=one.name, split=one.split),
        key=lambda one: (one.name, one.split),
        stands_for_all=lambda one: one.split is None,
        distinct=lambda one: one,
    )


def _choose(
    places: Sequence[Sequence[Said[_Entry]]],
    *,
    is_bare: Callable[[_Entry], bool],
    key: Callable[[_Entry], Hashable],
    stands_for_all: Callable[[_Entry], bool],
    distinct: Callable[[_Entry], Hashable],
) -> list[Said[_Entry]]:
    """Choose.

    Args:
        places: What each says that says anything, the first place first.
        is_bare: An entry is a name and no more.
        key: What a bare entry has in common with the one that describes it.
        stands_for_all: A bare entry, if nothing describes it alone, means all of its
            name.
        distinct: What no two of the chosen may have in common; the first one stays.
    """
    first, *rest = places
    described = {
        key(said.entry): said for place in reversed(rest) for said in reversed(place)
    }
    chosen: dict[Hashable, Said[_Entry]] = {}
    for said in first:
        found = [said]
        if is_bare(said.entry):
            exact = described.get(key(said.entry))
            named = [
                other
                for place in rest
                for other in place
                if other.entry.name == said.entry.name
                and described[key(other.entry)] is other
            ]
            if exact is not None:
                found = [exact]
            elif stands_for_all(said.entry) and named:
                found = named
        for one in found:
            origin = one.origin
            if one is not said and said.origin != one.origin:
                origin = f"{one.origin}, chosen by {said.origin}"
            chosen.setdefault(distinct(one.entry), Said(one.entry, origin))
    return list(chosen.values())
