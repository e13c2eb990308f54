"""The places that settings come from: what each says, and how it writes a key."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_codegenie.config.record import SINGULARS
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_toml
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import ConfigError
from pytest_codegenie.errors import relative


ENVIRONMENT_PREFIX = "CODEGENIE_"
#: Between a table's name and a key of it, in the environment.
NESTED = "__"
_PLURALS = {plural: singular for singular, plural in SINGULARS.items()}
#: Keys that the command line writes in another way.
_OPTIONS = {
    "docker.enabled": "--codegenie-no-docker",
    "docker": "--codegenie-no-docker",
}


@dataclass(frozen=True, slots=True)
class Place:
    """What one place says, unchecked."""

    #: For messages.
    source: str
    values: Mapping[str, Any]
    #: How it writes a key, such as ``limits.memory``.
    written: Callable[[str], str] = str
    #: A file is enough to find a key.
    is_file: bool = True

    def origin(self, key: str) -> str:
        """Return where a value of this place comes from, as people look it up."""
        if self.is_file:
            return self.source
        return f"{self.source}: {self.written(key).partition('.')[0]}"


def command_line(options: Mapping[str, Any]) -> Place:
    """Return what was given on the command line; None was not given."""
    given = {key: value for key, value in options.items() if value is not None}
    return Place("command line", given, _as_option, is_file=False)


def environment_place(variables: Mapping[str, str], values: Mapping[str, Any]) -> Place:
    """Return what the environment says.

    Args:
        variables: All there are.
        values: What was read from them, by key.
    """

    def written(key: str) -> str:
        return as_variable(key, variables)

    return Place("environment", values, written, is_file=False)


def run_file_place(path: Path) -> Place:
    """Return what a run file says.

    Raises:
        ConfigError: It cannot be read, or is no mapping.
    """
    source = relative(path)
    try:
        values = read_yaml(path)
    except DocumentError as exc:
        raise ConfigError(source, "", exc.reason) from exc
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(source, "", "must be a mapping of settings")
    return Place(source, {str(key): value for key, value in values.items()})


def pyproject_place(path: Path) -> Place:
    """Return what ``[tool.codegenie]`` says; ``-`` may stand for ``_`` in its keys.

    Raises:
        ConfigError: The file cannot be read, or that is no table.
    """
    source = relative(path)
    try:
        tools = read_toml(path).get("tool", {})
    except DocumentError as exc:
        raise ConfigError(source, "", exc.reason) from exc
    table = tools.get("codegenie", {}) if isinstance(tools, dict) else tools
    if not isinstance(table, dict):
        raise ConfigError(source, "tool.codegenie", "must be a table")
    values = {key.replace("-", "_"): value for key, value in table.items()}
    return Place(source, values, "tool.codegenie.{}".format)


def as_variable(key: str, variables: Mapping[str, str]) -> str:
    """Return the variable that a key was read from."""
    first, _, rest = key.partition(".")
    own = ENVIRONMENT_PREFIX + first.upper()
    nested = f"{own}{NESTED}{rest.replace('.', NESTED).upper()}"
    if rest and nested in variables:
        return nested
    singular = _PLURALS.get(first, "")
    if f"{ENVIRONMENT_PREFIX}{singular.upper()}" in variables and singular:
        return ENVIRONMENT_PREFIX + singular.upper()
    return f"{own}.{rest}" if rest and own in variables else own


def _as_option(key: str) -> str:
    if key in _OPTIONS:
        return _OPTIONS[key]
    first = key.partition(".")[0]
    return f"--codegenie-{_PLURALS.get(first, first).replace('_', '-')}"
