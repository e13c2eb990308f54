"""``trust-tiers.yaml``: the tiers of trust there are, and who has which.

Tiers are names in data. A person edits the file; this program reads it.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from typing import Any

from pydantic import Field
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import TierConfigInvalid
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import Label
from pytest_codegenie.models import Record
from pytest_codegenie.models import TaskClassName


#: In a project's root, beside ``pyproject.toml``.
TIERS_FILE = "trust-tiers.yaml"
#: Where a reader finds what the file holds.
_HELP = "what it holds: codegenie schema TrustTiers"
#: What a higher tier may not ask less of; else the order of the tiers is wrong.
_RISING = ("lower_bound", "min_passed", "min_held_out_passed")
#: What pydantic calls a mapping that is none.
_NO_MAPPING = ("dict_type", "model_type")
#: What pydantic appends to a key's place where the key itself is at fault.
_KEY_MARK = "[key]"

# Strict: YAML says what is a number, and ``yes`` is none.
Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Least = Annotated[int, Field(ge=0, strict=True)]
Window = Annotated[int, Field(ge=1, le=1000, strict=True)]


class Tier(Record):
    """What a tier asks of each run in the window."""

    #: Any name; it is what ``current`` and ``--to`` say.
    name: Label
    #: What ``lower_bound_95`` has to reach.
    lower_bound: Threshold
    #: So many cases have to pass, each in all of its trials. The task class may ask
    #: for more, by ``min_cases_for_promotion``.
    min_passed: Least = 0
    #: So many of them have to be held-out cases, that no corpus was made from.
    min_held_out_passed: Least = 0
    #: So many of the latest runs have to meet all of this.
    window: Window = 1
    #: Isolation that counts: a workspace, or a whole isolation class as reports have
    #: it (``sandbox; rubric sandbox``); none listed: any.
    isolation: tuple[Annotated[str, Field(min_length=1)], ...] = ()


class TrustTiers(Record):
    """The file ``trust-tiers.yaml``."""

    #: Lowest first; a promotion goes one tier up.
    tiers: Annotated[tuple[Tier, ...], Field(min_length=1)]
    #: Task class, agent's label, tier. Who is not listed has no tier.
    current: dict[TaskClassName, dict[Label, str]] = Field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The tiers' names, lowest first."""
        return tuple(tier.name for tier in self.tiers)

    def tier(self, name: str) -> Tier | None:
        """Return the tier of a name; None for no such tier."""
        return next((tier for tier in self.tiers if tier.name == name), None)

    def next_above(self, name: str | None) -> Tier | None:
        """Return the tier above one of ours; None above the highest.

        Args:
            name: None: no tier yet, so the lowest is above it.
        """
        position = 0 if name is None else self.names.index(name) + 1
        return self.tiers[position] if position < len(self.tiers) else None

    def current_tier(self, task_class: str, agent: str) -> str | None:
        """Return the tier that an agent has for a task class; None for none yet."""
        return self.current.get(task_class, {}).get(agent)


def read_tiers(path: Path) -> TrustTiers:
    """Return what a tiers file says.

    Raises:
        TierConfigInvalid: It cannot be read, or does not hold; with the key.
    """
    try:
        values = read_yaml(path)
    except DocumentError as exc:
        remedy = f"; write it ({_HELP}), or name another with --tiers"
        missing = exc.reason == "missing"
        raise TierConfigInvalid(path, "", exc.reason + remedy * missing) from exc
    if not isinstance(values, dict):
        raise TierConfigInvalid(
            path, "", f"must be a mapping with 'tiers' and 'current'; {_HELP}"
        )
    try:
        tiers = TrustTiers.model_validate(_without_empty(values))
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        key = _written(values, error["loc"])
        raise TierConfigInvalid(path, key, _reason(error)) from exc
    for key, reason in _faults(tiers):
        raise TierConfigInvalid(path, key, reason)
    return tiers


def held_out_needed(project: Path) -> dict[str, int] | None:
    """Return the tiers of a project, each with the held-out cases that it asks for.

    Args:
        project: Its root.

    Returns:
        Lowest first; None where the project has no tiers file.

    Raises:
        TierConfigInvalid: The file does not hold.
    """
    path = project / TIERS_FILE
    if not path.exists():
        return None
    return {tier.name: tier.min_held_out_passed for tier in read_tiers(path).tiers}


def _without_empty(values: dict[Any, Any]) -> dict[Any, Any]:
    """Return the values with a mapping where the last entry of one was deleted."""
    current = values.get("current", {})
    if isinstance(current, dict):
        current = {key: {} if own is None else own for key, own in current.items()}
    return values | {"current": {} if current is None else current}


def _written(values: Any, place: Sequence[int | str]) -> str:
    """Return a key as a person finds it in the file: tiers by their names."""
    parts = [str(part) for part in place if part != _KEY_MARK]
    if len(place) > 1 and place[0] == "tiers" and isinstance(place[1], int):
        own = values["tiers"][place[1]]
        name = own.get("name") if isinstance(own, dict) else None
        parts[1] = name if isinstance(name, str) else f"number {place[1] + 1}"
    return ".".join(parts)


def _reason(error: ErrorDetails) -> str:
    given = reprlib.repr(error["input"])
    place = error["loc"]
    if error["type"] == "extra_forbidden":
        known = TrustTiers.model_fields if len(place) == 1 else Tier.model_fields
        return _unknown("key", str(place[-1]), known)
    if error["type"] == "missing":
        return f"required key is missing; {_HELP}"
    if error["type"] in _NO_MAPPING:
        shape = {0: "tiers", 1: "task class: {agent: tier}", 2: "agent: tier"}
        words = shape.get(len(place), "name, lower_bound, ...")
        if place[0] == "tiers":
            words = "name, lower_bound, ..."
        return f"must be a mapping ({words}), got {given}"
    if place[0] == "tiers" and len(place) == 1:
        return f"must be a list of tiers, lowest first, at least one; got {given}"
    if place[0] == "current" and error["type"] == "string_type":
        return f"must be the name of a tier; leave out who has none; got {given}"
    if error["type"] == "tuple_type":
        return f"must be a list, got {given}"
    if error["type"] == "string_pattern_mismatch":
        return (
            "must start with a letter or digit and hold only letters, digits, '.', "
            f"'_' and '-', of a task class lower-case ones and '-'; got {given}"
        )
    return f"{error['msg']}, got {given}"


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    known = list(known)
    return f"unknown {what} {name!r}{did_you_mean(name, known)}; known: " + ", ".join(
        known
    )


def _faults(tiers: TrustTiers) -> Iterable[tuple[str, str]]:
    """Yield (key, reason) of what no single value shows."""
    names = tiers.names
    for name in names:
        if names.count(name) > 1:
            yield f"tiers.{name}", "stands twice; each tier needs a name of its own"
    for lower, higher in zip(tiers.tiers, tiers.tiers[1:], strict=False):
        yield from _falling(lower, higher)
    for task_class, own in tiers.current.items():
        yield from _unknown_tiers(task_class, own, names)


def _falling(lower: Tier, higher: Tier) -> Iterable[tuple[str, str]]:
    for key in _RISING:
        below, above = getattr(lower, key), getattr(higher, key)
        if above < below:
            yield (
                f"tiers.{higher.name}.{key}",
                f"is {above}, less than the {below} of {lower.name!r} below it; list "
                "the lowest tier first, and let each ask at least what the one below "
                "it asks",
            )


def _unknown_tiers(
    task_class: str, own: Mapping[str, str], names: Sequence[str]
) -> Iterable[tuple[str, str]]:
    for agent, tier in own.items():
        if tier not in names:
            yield f"current.{task_class}.{agent}", _unknown("tier", tier, names)
