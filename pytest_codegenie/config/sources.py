"""The places as sources of pydantic-settings, which reads variables and merges."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import yaml
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings
from pydantic_settings import EnvSettingsSource
from pydantic_settings import InitSettingsSource
from pydantic_settings import PydanticBaseSettingsSource

from pytest_codegenie.config.places import ENVIRONMENT_PREFIX
from pytest_codegenie.config.places import NESTED
from pytest_codegenie.config.record import SINGULARS
from pytest_codegenie.config.record import RunConfig
from pytest_codegenie.documents import parse_yaml


class _Settings(RunConfig, BaseSettings):  # type: ignore[misc]  # two configs, merged
    """``RunConfig`` as pydantic-settings fills it."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources that ``merge`` hands over, and none of the usual ones."""
        assert isinstance(init_settings, InitSettingsSource)
        return tuple(init_settings.init_kwargs["sources"])


def merge(checked: Sequence[Mapping[str, Any]]) -> RunConfig:
    """Return one configuration of what each place says, the first place first."""
    sources = [InitSettingsSource(_Settings, dict(values)) for values in checked]
    merged = _Settings(sources=sources)  # type: ignore[call-arg]  # taken by the method above
    return RunConfig(**{key: getattr(merged, key) for key in RunConfig.model_fields})


def read_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what ``CODEGENIE_*`` variables say, by key; others are left alone.

    A variable that is empty is not set. A table is a line of YAML, or has a variable
    for each key (``CODEGENIE_LIMITS__MEMORY``). A singular takes several names, with
    commas in between.
    """
    values = _Variables(variables)()
    for singular in SINGULARS:
        text = variables.get(ENVIRONMENT_PREFIX + singular.upper())
        if text:
            values[singular] = [name.strip() for name in text.split(",")]
    return values


class _Variables(EnvSettingsSource):
    """Reads variables, tables by our own YAML reader instead of JSON's."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(
            _Settings, env_prefix=ENVIRONMENT_PREFIX, env_nested_delimiter=NESTED
        )
        self.env_vars = {
            # pydantic-settings looks them up in lower case, in which none is ours.
            name.lower(): text
            for name, text in variables.items()
            if text and name == name.upper() and name != f"{ENVIRONMENT_PREFIX}AGENTS"
        }

    def decode_complex_value(
        self, field_name: str, field: FieldInfo, value: Any
    ) -> Any:
        """Return what a text says as YAML; one that is none, is shown by its error."""
        try:
            return parse_yaml(value)
        except (yaml.YAMLError, ValueError, RecursionError):
            return value
