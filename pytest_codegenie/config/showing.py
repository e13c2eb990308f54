"""A configuration as a run file that says where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import yaml

from pytest_codegenie.config.loading import Configuration
from pytest_codegenie.config.record import LISTS
from pytest_codegenie.config.record import TABLES
from pytest_codegenie.redaction import Redactor
from pytest_codegenie.redaction import find_secrets


#: Instead of a secret.
SET = "(set)"
_COMMENT_COLUMN = 40


def show_configuration(
    configuration: Configuration, environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield lines of YAML; each value has its place in a comment.

    Args:
        configuration: What holds.
        environment: Whose secrets do not appear, wherever they stand.
    """
    named = configuration.settings.secrets
    redactor = Redactor(find_secrets(environment, named=named))
    values = redactor.value(_without_secrets(configuration))
    for key, value in values.items():
        if key in TABLES:
            yield f"{key}:"
            for inner, content in value.items():
                origin = configuration.origin(f"{key}.{inner}")
                yield _line(f"  {inner}: {_inline(content)}", origin)
        elif key in LISTS and value:
            yield f"{key}:"
            for number, entry in enumerate(value):
                first, *rest = _entry_lines(entry)
                origin = configuration.origin(f"{key}.{number}")
                yield _line(f"- {first}", origin)
                yield from (f"  {line}" for line in rest)
        else:
            yield _line(f"{key}: {_inline(value)}", configuration.origin(key))


def _line(text: str, origin: str) -> str:
    return f"{text:<{_COMMENT_COLUMN}}  # {origin}"


def _entry_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an entry says, without what it leaves out."""
    for key, value in entry.items():
        if value not in (None, [], {}):
            yield f"{key}: {_inline(value)}"


def _inline(value: Any) -> str:
    text: str = yaml.safe_dump(
        value,
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _without_secrets(configuration: Configuration) -> dict[str, Any]:
    """Return the settings, of what an agent is given without what looks secret."""
    values = configuration.settings.model_dump(mode="json")
    for agent in values["agents"]:
        agent["env"] = {name: SET if v else v for name, v in agent["env"].items()}
        agent["options"] = _hidden(agent["options"])
    return values


def _hidden(value: Any) -> Any:
    """Return options without the values whose names look like those of secrets."""
    if isinstance(value, Mapping):
        return {
            key: SET if item and _names_a_secret(key, item) else _hidden(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    return value


def _names_a_secret(key: str, value: Any) -> bool:
    """Say whether the value of an option has to be kept to its owner."""
    if not isinstance(value, str) or key.endswith("_variable"):
        return False  # a number of tokens; the name of a variable
    # However short the value is.
    return bool(find_secrets({key: "as long as a secret"}))
