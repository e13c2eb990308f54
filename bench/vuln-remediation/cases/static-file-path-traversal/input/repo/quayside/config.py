"""Settings, and how they are read from ``quayside.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class ConfigError(ValueError):
    """The settings file is not usable; the message names the key."""


@dataclass(frozen=True)
class Settings:
    """What one server publishes.

    Attributes:
        site: Folder of the built pages.
        sources: Folder of the pages' sources, or None to publish none.
        max_age: Seconds a client may keep a page before it asks again.
        max_age_by_suffix: Exceptions to ``max_age``, by lower-case file suffix.
    """

    site: Path
    sources: Path | None = None
    max_age: int = 60
    max_age_by_suffix: Mapping[str, int] = field(default_factory=dict)

    def max_age_for(self, path: Path) -> int:
        return self.max_age_by_suffix.get(path.suffix.lower(), self.max_age)


def load_settings(path: Path) -> Settings:
    """Read settings; relative folders are relative to the file itself."""
    with path.open("rb") as handle:
        try:
            raw = tomllib.load(handle)
        except tomllib.TOMLDecodeError as exc:
            raise ConfigError(f"{path.name} is not TOML: {exc}") from exc
    return settings_from(raw, base=path.parent)


def settings_from(raw: Mapping[str, Any], *, base: Path) -> Settings:
    """Check the content of a settings file and build the settings from it."""
    known = {"site", "sources", "max_age", "max_age_by_suffix"}
    if unknown := sorted(set(raw) - known):
        raise ConfigError(f"unknown key {unknown[0]!r}; known: {sorted(known)}")
    if "site" not in raw:
        raise ConfigError("the key 'site' is missing")

    site = base / raw["site"]
    if not site.is_dir():
        raise ConfigError(f"site: {raw['site']!r} is not a folder")
    sources = base / raw["sources"] if "sources" in raw else None

    suffixes = raw.get("max_age_by_suffix", {})
    for suffix, seconds in suffixes.items():
        if not suffix.startswith(".") or not isinstance(seconds, int):
            raise ConfigError(f"max_age_by_suffix: {suffix!r} = {seconds!r}")
    return Settings(
        site=site,
        sources=sources,
        max_age=raw.get("max_age", 60),
        max_age_by_suffix={key.lower(): value for key, value in suffixes.items()},
    )
