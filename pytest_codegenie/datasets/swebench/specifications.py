"""What an instance's code runs with, by tables that come with datasets.

SWE-bench up to 4 has a table of the environments of its repositories' versions, as
Python in its package; SWE-rebench has the same for each row, as ``install_config``.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import shlex
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Literal


#: For the image, or with a network and as root.
_SYSTEM = re.compile(
    r"[A-Z_]+=|.*(\b(apt|apt-get|dpkg|locale-gen|wget|curl|sudo|nvm|npm|conda)\b|/etc/)"
)
_PYTHON = re.compile(r"(\d+\.\d+)(\.\d+)?")
#: The last version of SWE-bench that has the table is below this one.
_WITHOUT_TABLE = 5


@dataclass(frozen=True, slots=True)
class Specification:
    """What to install and to run."""

    #: ``major.minor``; "": it does not say.
    python: str
    install: tuple[str, ...] | Literal["auto"]
    #: Without the tests' names; "": it does not say.
    test_command: str
    #: Where it comes from.
    source: str


def specification_of(
    table: Mapping[str, Any], source: str, requirements: Sequence[str] = ()
) -> Specification:
    """Return what a table of SWE-bench's kind says.

    Args:
        table: With ``python``, ``packages``, ``pip_packages``, ``pre_install``,
            ``install`` and ``test_cmd``, all optional.
        source: Where it comes from.
        requirements: Files of which the first that is there is meant by
            ``packages = "requirements.txt"``.
    """
    python = _PYTHON.fullmatch(str(table.get("python") or ""))
    return Specification(
        python=python[1] if python else "",
        install=_install(table, requirements or _texts(table.get("reqs_path"))),
        test_command=_command(table.get("test_cmd")),
        source=source,
    )


def package_specification(repo: str, version: str) -> Specification | None:
    """Return what the installed package ``swebench`` says; None: nothing."""
    package = _package()
    if package is None:
        return None
    installed, constants = package
    table = constants.MAP_REPO_VERSION_TO_SPECS.get(repo, {}).get(version)
    if table is None:
        return None
    paths = constants.MAP_REPO_TO_REQS_PATHS.get(repo, ())
    return specification_of(table, f"swebench {installed}", paths)


@functools.cache
def _package() -> tuple[str, Any] | None:
    """Return the version of the package and its tables; None where it has none."""
    try:
        installed = importlib.metadata.version("swebench")
        if int(installed.partition(".")[0]) >= _WITHOUT_TABLE:
            return None
        # Late: it imports half a world.
        from swebench.harness import constants  # type: ignore[import-not-found]
    except (ImportError, ValueError):
        return None
    return installed, constants


def _install(
    table: Mapping[str, Any], requirements: Sequence[str]
) -> tuple[str, ...] | Literal["auto"]:
    packages = str(table.get("packages") or "").strip()
    if packages == "environment.yml":
        return "auto"  # Conda's; the project's own files say most of it.
    commands = []
    if packages == "requirements.txt":
        commands.append(_requirements(requirements or ("requirements.txt",)))
    elif packages:
        commands.append(_pip(shlex.split(packages)))
    if more := _texts(table.get("pip_packages")):
        commands.append(_pip(more))
    last = _texts(table.get("pre_install")), _texts(table.get("install"))
    commands += (line for lines in last for line in lines if not _SYSTEM.match(line))
    return tuple(commands) or "auto"


def _pip(packages: Sequence[str]) -> str:
    return f"python -m pip install {shlex.join(packages)}"


def _requirements(paths: Sequence[str]) -> str:
    """Return a command that installs the first file that is there."""
    names = shlex.join(paths)
    return (
        f'for file in {names}; do if [ -f "$file" ]; then '
        'python -m pip install -r "$file"; break; fi; done'
    )


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item.strip())


def _command(value: Any) -> str:
    return "\n".join(_texts(value))
