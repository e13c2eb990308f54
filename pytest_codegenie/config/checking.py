"""Checking one place's settings, so that a message names the place and the key."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pytest_codegenie.config.bounds import BOUNDS_FAULT
from pytest_codegenie.config.places import Place
from pytest_codegenie.config.record import LISTS
from pytest_codegenie.config.record import SINGULARS
from pytest_codegenie.config.record import TABLES
from pytest_codegenie.config.record import RunConfig
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import AgentSpec


#: How a name is written; what else is a list of names as they are.
_FORMS = {"agent": "NAME or NAME:label", "dataset": "NAME or NAME:split"}
#: Key to what it must be, where pydantic's words help nobody.
_LABEL = (
    "must start with a letter or digit and hold only letters, digits, '.', '_' and "
    "'-', 64 at most"
)
_RULES = {
    "label": f"a label {_LABEL}",
    "run_id": _LABEL,
    "workers": "must be a number, 0 for none, 'auto' or 'logical'",
    "enabled": "must be true or false; leave it out to use docker where it is named",
    "max_cost_usd": "must be a number of US dollars above 0, such as 2.50",
    "network": (
        "must be 'none' or a name of the engine's: docker network create agents"
    ),
}


def check(place: Place) -> dict[str, Any]:
    """Return what a place says, by ``RunConfig`` key; tables as they stand there.

    Raises:
        ConfigError: A key is unknown or its value is wrong.
    """
    values = _with_lists(place)
    known = (*RunConfig.model_fields, *SINGULARS)
    for key in values:
        if key not in known:
            raise ConfigError(
                place.source, place.written(key), _unknown_key(key, known)
            )
    try:
        config = RunConfig(**values)
    except ValidationError as exc:
        raise _config_error(place, exc.errors()[0]) from exc
    _refuse_equal_labels(config.agents, place)
    return {
        # The keys of a table are merged with those of other places.
        key: value if key in TABLES else getattr(config, key)
        for key, value in values.items()
    }


def _with_lists(place: Place) -> dict[str, Any]:
    """Return a place's values with lists instead of single names."""
    values = dict(place.values)
    for singular, plural in SINGULARS.items():
        if singular not in values:
            continue
        if plural in values:
            raise ConfigError(
                place.source,
                singular,
                f"give either {singular!r} or {plural!r}, not both",
            )
        names = values.pop(singular)
        listed = names if isinstance(names, list | tuple) else [names]
        values[plural] = [_named(singular, name, place) for name in listed]
    agents = values.get("agents")
    if isinstance(agents, list):
        values["agents"] = [_with_label(agent) for agent in agents]
    return values


def _named(singular: str, name: Any, place: Place) -> Any:
    """Return the entry that a name stands for."""
    if not isinstance(name, str) or not name:
        form = _FORMS.get(singular, "a name")
        raise ConfigError(
            place.source, place.written(singular), f"must be {form}, got {name!r}"
        )
    first, colon, second = name.partition(":")
    if singular == "agent":
        return {"name": first, "label": second or first}
    if singular == "dataset":
        return {"name": first, "split": second} if colon else {"name": first}
    return name


def _with_label(agent: Any) -> Any:
    if isinstance(agent, dict) and "label" not in agent and "name" in agent:
        return agent | {"label": agent["name"]}
    return agent


def _refuse_equal_labels(agents: Sequence[AgentSpec], place: Place) -> None:
    seen: set[str] = set()
    for agent in agents:
        if agent.label in seen:
            raise ConfigError(
                place.source,
                place.written("agent"),
                f"label {agent.label!r} is used by two agents; give each its own: "
                f"{agent.name}:another-label",
            )
        seen.add(agent.label)


def _config_error(place: Place, error: ErrorDetails) -> ConfigError:
    keys = [str(part) for part in error["loc"]]
    if keys[0] == "workers":
        keys = keys[:1]  # pydantic names the type too that it tried
    key = place.written(".".join(keys))
    return ConfigError(place.source, key, _reason(keys, error))


def _reason(keys: Sequence[str], error: ErrorDetails) -> str:
    given = reprlib.repr(error["input"])
    if error["type"] == "extra_forbidden":
        record = TABLES.get(keys[0]) or LISTS[keys[0]]
        return _unknown_key(keys[-1], record.model_fields)
    if error["type"] == BOUNDS_FAULT:
        return error["msg"]
    if keys[0] in TABLES and len(keys) == 1:
        return f"must be a table, such as {_example(keys[0])}, got {given}"
    if error["type"] == "missing":
        # Not what there is instead: an agent's environment may hold secrets.
        return "required key is missing"
    if keys[-1] in _RULES:
        words = _RULES[keys[-1]]
        if error["type"] == "value_error":
            words = error["msg"].removeprefix("Value error, ")
        return f"{words}, got {error['input']!r}"
    reason = f"{error['msg']}, got {given}"
    if error["type"] == "literal_error":
        known = [word.strip("'") for word in _literals(error.get("ctx", {}))]
        reason += did_you_mean(str(error["input"]), known)
    return reason


def _unknown_key(key: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    return f"unknown key{did_you_mean(key, known)}; known: {', '.join(sorted(known))}"


def _example(table: str) -> str:
    """Return something that a table may hold."""
    if table in ("limits", "docker"):
        return "{memory: 4g}"
    return {"evaluator": "{timeout_seconds: 60}"}.get(table, "{readable: [/opt/agent]}")


def _literals(context: Mapping[str, Any]) -> list[str]:
    """Return what pydantic says that a value may be: ``'a', 'b' or 'c'``."""
    expected: str = context.get("expected", "")
    return expected.replace(" or ", ", ").split(", ")
