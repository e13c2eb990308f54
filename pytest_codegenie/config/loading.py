"""Merging the places into one configuration that knows where each value comes from.

Each place is a source of pydantic-settings. That is imported when a configuration is
loaded, not before: a plugin that is not used costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_codegenie.config.checking import check
from pytest_codegenie.config.choosing import Said
from pytest_codegenie.config.choosing import choose_agents
from pytest_codegenie.config.choosing import choose_datasets
from pytest_codegenie.config.places import Place
from pytest_codegenie.config.places import command_line
from pytest_codegenie.config.places import environment_place
from pytest_codegenie.config.places import pyproject_place
from pytest_codegenie.config.places import run_file_place
from pytest_codegenie.config.record import LISTS
from pytest_codegenie.config.record import TABLES
from pytest_codegenie.config.record import RunConfig


DEFAULT = "default"
_CHOOSERS: Mapping[str, Any] = {"agents": choose_agents, "datasets": choose_datasets}


@dataclass(frozen=True, slots=True)
class Configuration:
    """What holds for a run, and where it comes from."""

    settings: RunConfig
    #: Key (``trials``, ``limits.memory``, ``agents.0``) to place, as people look it up;
    #: what is not in it is a default.
    origins: Mapping[str, str]

    def origin(self, key: str) -> str:
        """Return where the value of a key comes from."""
        if key in LISTS:
            entries = [o for k, o in self.origins.items() if k.startswith(f"{key}.")]
            return "; ".join(dict.fromkeys(entries)) or DEFAULT
        return self.origins.get(key, DEFAULT)


def load_configuration(
    *,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    run_file: Path | None = None,
    pyproject: Path | None = None,
) -> Configuration:
    """Merge all places into one configuration.

    Args:
        options: From the command line, by ``RunConfig`` key; ``agent`` is a sequence
            of ``NAME`` or ``NAME:label``, ``dataset`` of ``NAME`` or ``NAME:split``.
            What was not given is absent or None.
        environment: The process environment; ``CODEGENIE_AGENT`` may hold several
            agents, separated by commas.
        run_file: YAML, or None.
        pyproject: A ``pyproject.toml``; it may be missing or have no such table.

    Raises:
        ConfigError: A place cannot be read, or a key is unknown or wrong.
    """
    from pytest_codegenie.config import sources

    values = sources.read_environment(environment)
    places = [command_line(options), environment_place(environment, values)]
    if run_file is not None:
        places.append(run_file_place(run_file))
    if pyproject is not None and pyproject.is_file():
        places.append(pyproject_place(pyproject))
    # Every place is checked by itself, so that an error names where it stands.
    checked = [check(place) for place in places]
    chosen, origins = _choose_entries(places, checked)
    settings = sources.merge([chosen, *checked])
    return Configuration(settings, dict(_origins(places, checked)) | origins)


def _choose_entries(
    places: Sequence[Place], checked: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (list settings by key, origin of each entry of theirs)."""
    chosen: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for key, choose in _CHOOSERS.items():
        said = [
            [Said(entry, place.origin(key)) for entry in values[key]]
            for place, values in zip(places, checked, strict=True)
            if key in values
        ]
        if said:
            entries = choose(said)
            chosen[key] = tuple(one.entry for one in entries)
            origins |= {f"{key}.{n}": one.origin for n, one in enumerate(entries)}
    return chosen, origins


def _origins(
    places: Sequence[Place], checked: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield (key, place) of all that is said; the first place last."""
    for place, values in reversed(list(zip(places, checked, strict=True))):
        for key, value in values.items():
            if key in TABLES:
                for inner in value:
                    yield f"{key}.{inner}", place.origin(f"{key}.{inner}")
            elif key not in LISTS:
                yield key, place.origin(key)
