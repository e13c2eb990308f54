"""Where packages come from: the user's settings for pip, uv and the network.

Nothing else of the user's environment reaches a build. uv does not read pip's
settings, so what pip would follow is said to uv in its own words, unless the user has
settings for uv.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_codegenie.hashing import hash_bytes


#: How the network is reached.
_NETWORK = frozenset(
    {
        "ALL_PROXY",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NETRC",
        "NO_PROXY",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "XDG_CONFIG_DIRS",
        "XDG_CONFIG_HOME",
    }
)
#: Settings that say where to install to, which is ours to say.
_OURS = frozenset(
    f"{tool}_{name}"
    for tool in ("PIP", "UV")
    for name in (
        "BREAK_SYSTEM_PACKAGES",
        "CACHE_DIR",
        "DRY_RUN",
        "EDITABLE",
        "LINK_MODE",
        "LOG",
        "MANAGED_PYTHON",
        "NO_CACHE",
        "NO_CACHE_DIR",
        "NO_MANAGED_PYTHON",
        "PREFIX",
        "PROJECT",
        "PROJECT_ENVIRONMENT",
        "PYTHON",
        "REPORT",
        "REQUIREMENT",
        "REQUIRE_VIRTUALENV",
        "ROOT",
        "SRC",
        "SYSTEM_PYTHON",
        "TARGET",
        "USER",
        "VENV_CLEAR",
        "WORKING_DIRECTORY",
    )
)
#: Settings of pip that decide what is installed; they make another environment.
_DECIDING = (
    "constraint",
    "extra-index-url",
    "find-links",
    "index-url",
    "no-binary",
    "no-index",
    "only-binary",
    "pre",
    "prefer-binary",
)
#: pip's setting to uv's variable, and what stands between values there.
_FOR_UV = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_EXTRA_INDEX_URL", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
}
_UV_INDEXES = frozenset(
    {"UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX", "UV_INDEX_URL"}
)
#: Of uv, variables that do not decide what is installed.
_UV_NEUTRAL = ("UV_CONCURRENT_", "UV_HTTP_", "UV_NATIVE_TLS", "UV_NO_PROGRESS")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What the user set."""

    #: Passed on as they are: ``PIP_*``, ``UV_*``, proxies, certificates.
    variables: Mapping[str, str]
    #: pip's settings, files and variables together: name to values.
    pip: Mapping[str, tuple[str, ...]]

    @classmethod
    def of_user(cls) -> IndexSettings:
        """Read the environment and pip's files."""
        variables = {
            name: value
            for name, value in os.environ.items()
            if name not in _OURS
            and (name.startswith(("PIP_", "UV_")) or name.upper() in _NETWORK)
        }
        return cls(variables, _read_pip())

    def for_uv(self) -> dict[str, str]:
        """Return variables that tell uv what pip's settings tell pip."""
        words = {}
        user_has_indexes = not _UV_INDEXES.isdisjoint(self.variables)
        for name, (variable, separator) in _FOR_UV.items():
            known = user_has_indexes if "index" in name else variable in self.variables
            if name in self.pip and not known:
                words[variable] = separator.join(self.pip[name])
        if "UV_EXTRA_INDEX_URL" in words and "UV_INDEX_STRATEGY" not in self.variables:
            # pip takes the best of all indexes, uv of the first that has the package.
            words["UV_INDEX_STRATEGY"] = "unsafe-best-match"
        return words

    def uv_options(self) -> list[str]:
        """Return options that say what no variable of uv's can."""
        options = []
        if self._is_on("no-index"):
            options.append("--no-index")
        if self._is_on("pre"):
            options.append("--prerelease=allow")
        for name in ("no-binary", "only-binary"):
            for value in self.pip.get(name, ()):
                options += [f"--{name}={part}" for part in value.split(",")]
        return options

    def fingerprint(self) -> dict[str, object]:
        """Return all of it that decides what is installed."""
        constraints = [
            hash_bytes(Path(value).read_bytes())
            for value in self.pip.get("constraint", ())
            if Path(value).is_file()
        ]
        uv = {
            name: value
            for name, value in self.variables.items()
            if name.startswith("UV_") and not name.startswith(_UV_NEUTRAL)
        }
        pip = {name: self.pip[name] for name in _DECIDING if name in self.pip}
        return {"pip": pip, "constraints": constraints, "uv": uv}

    def paths(self) -> tuple[Path, ...]:
        """Return the files and directories of this machine that are named."""
        words = [value for values in self.pip.values() for value in values]
        for value in self.variables.values():
            words += value.replace(",", " ").split()
        places = {Path(word.removeprefix("file://")) for word in words}
        return tuple(
            sorted(
                path
                for path in places
                # Not /dev/null, by which pip is told that there is no file.
                if path.is_absolute() and (path.is_file() or path.is_dir())
            )
        )

    def _is_on(self, name: str) -> bool:
        return self.pip.get(name, ("",))[-1].lower() in ("1", "true", "yes", "on")


def _read_pip() -> dict[str, tuple[str, ...]]:
    """Return pip's settings as pip reads them: what comes later counts."""
    found: dict[str, tuple[str, ...]] = {}
    for path in _pip_files():
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue  # pip will say so itself
        for section in ("global", "install"):
            if parser.has_section(section):
                for name, value in parser.items(section):
                    found[name.replace("_", "-")] = tuple(value.split())
    for variable, value in os.environ.items():
        if variable.startswith("PIP_") and variable not in _OURS and value:
            name = variable.removeprefix("PIP_").lower().replace("_", "-")
            found[name] = tuple(value.split())
    return found


def _pip_files() -> list[Path]:
    chosen = os.environ.get("PIP_CONFIG_FILE", "")
    if chosen == os.devnull:
        return []
    home = Path.home()
    shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    own = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    files = [Path(place, "pip", "pip.conf") for place in shared.split(":")]
    files += [Path("/etc/pip.conf"), home / ".pip" / "pip.conf"]
    files.append(Path(own, "pip", "pip.conf"))
    return [*files, Path(chosen)] if chosen else files
