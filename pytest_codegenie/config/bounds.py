"""Required lower bounds, from the many ways in which people write them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from pytest_codegenie.models import Fraction
from pytest_codegenie.models import Record
from pytest_codegenie.models import TaskClassName


#: Stands for all task classes that have no bound of their own.
ANY = "*"
#: The type of our own errors among pydantic's; their messages say all.
BOUNDS_FAULT = "codegenie_bounds"
_NUMBER = {"type": "number", "minimum": 0, "maximum": 1}
#: Of what may be written, as JSON Schema.
BOUNDS_SCHEMA = {
    "anyOf": [
        _NUMBER,
        {"type": "object", "additionalProperties": _NUMBER},
        {"type": "array", "items": {"anyOf": [_NUMBER, {"type": "string"}]}},
    ]
}
_TASK_CLASS = TypeAdapter(TaskClassName)


class RequiredBound(Record):
    """What the 95% lower bound of the mean score has to reach."""

    #: None: each that has no bound of its own.
    task_class: TaskClassName | None = None
    at_least: Fraction


def parse_bounds(value: Any) -> tuple[RequiredBound, ...]:
    """Return the bounds that a setting means.

    Args:
        value: A number; ``X`` or ``TASK=X``; a table of task class to number; or a
            list of those.

    Raises:
        PydanticCustomError: It is none of these, or names a task class twice.
    """
    bounds: dict[str | None, RequiredBound] = {}
    for bound in _entries(value):
        if bound.task_class in bounds:
            of = bound.task_class or "task classes without one of their own"
            raise _fault(f"gives two bounds for {of}; leave one out")
        bounds[bound.task_class] = bound
    return tuple(bounds.values())


def _entries(value: Any) -> Iterator[RequiredBound]:
    if isinstance(value, RequiredBound):
        yield value
    elif isinstance(value, Mapping):
        for name, number in value.items():
            yield _bound(str(name), number, {name: number})
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for entry in value:
            yield from _entries(entry)
    elif isinstance(value, str) and "=" in value:
        name, _, number = value.partition("=")
        yield _bound(name.strip(), number, value)
    else:
        yield _bound(ANY, value, value)


def _bound(name: str, number: Any, given: Any) -> RequiredBound:
    try:
        task_class = None if name == ANY else _TASK_CLASS.validate_python(name)
        at_least = math.nan if isinstance(number, bool) else float(number)
    except (TypeError, ValueError, ValidationError):
        at_least = math.nan
    if not 0 <= at_least <= 1:
        raise _fault(
            "must be X or TASK=X, where X is a number from 0 to 1 and TASK a task "
            f"class, such as 0.8 or bug-repair=0.8, got {given!r:.100}"
        )
    return RequiredBound(task_class=task_class, at_least=at_least)


def _fault(reason: str) -> PydanticCustomError:
    # Its message is a template, and what is given may hold braces.
    template = "{reason}"  # noqa: RUF027 -- pydantic fills it in
    return PydanticCustomError(BOUNDS_FAULT, template, {"reason": reason})


def written_bounds(bounds: Sequence[RequiredBound]) -> list[float | str]:
    """Return bounds as a list that a run file may hold."""
    return [
        f"{one.task_class}={one.at_least!r}" if one.task_class else one.at_least
        for one in bounds
    ]
