"""Lock files: the versions in them hold for all that is installed.

They are taken as constraints: what is installed is decided elsewhere, and a lock file
says which version it then is. That needs neither the tool that wrote the file nor what
it means by groups and markers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion
from packaging.version import Version

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.project_files import ProjectFiles


#: The first that is there counts.
LOCK_FILES = ("uv.lock", "pylock.toml", "poetry.lock", "pdm.lock", "Pipfile.lock")


def read_lock_file(files: ProjectFiles) -> tuple[list[str], str]:
    """Return constraints, and a sentence on what was read; "" if there is nothing.

    Raises:
        WorkspaceUnavailable: The file is broken.
    """
    for name in LOCK_FILES:
        if files.has(name):
            packages = (
                _pipfile(files) if name == "Pipfile.lock" else _table(files, name)
            )
            constraints, ambiguous = _constraints(packages)
            words = (
                f"{name}: {len(constraints)} versions hold as constraints; its hashes, "
                "markers and groups are not read"
            )
            if ambiguous:
                words += f"; with several versions, so free: {', '.join(ambiguous)}"
            return constraints, words
    return [], ""


def _table(files: ProjectFiles, name: str) -> Iterator[tuple[str, str]]:
    """Yield (package, version) of a lock file in TOML: they are much alike."""
    table = files.toml(name)
    for package in table.get("packages", table.get("package", ())):
        if _comes_from_an_index(package):
            yield str(package.get("name", "")), str(package.get("version", ""))


def _comes_from_an_index(package: dict[str, Any]) -> bool:
    """Say whether a version names it; not so for the project itself, or git."""
    source = package.get("source", {})
    if "directory" in package or "vcs" in package or "git" in package:
        return False
    if package.get("path") or package.get("url"):
        return False  # pdm
    if isinstance(source, dict):
        if source.get("type") in ("git", "directory", "url", "file"):
            return False  # poetry
        return not source or "registry" in source or "type" in source
    return False


def _pipfile(files: ProjectFiles) -> Iterator[tuple[str, str]]:
    try:
        table = json.loads(files.text("Pipfile.lock"))
        for group in ("default", "develop"):
            for name, package in table.get(group, {}).items():
                yield name, package.get("version", "").removeprefix("==")
    except (ValueError, AttributeError) as exc:
        raise WorkspaceUnavailable(f"Pipfile.lock: cannot be read: {exc}") from exc


def _constraints(
    packages: Iterable[tuple[str, str]],
) -> tuple[list[str], list[str]]:
    """Return constraints, and packages that are there in several versions."""
    versions: dict[str, set[str]] = {}
    for name, version in packages:
        try:
            versions.setdefault(canonicalize_name(name), set()).add(
                str(Version(version))
            )
        except InvalidVersion:
            continue  # no version: it comes from elsewhere
    single = [f"{name}=={next(iter(v))}" for name, v in versions.items() if len(v) == 1]
    return sorted(single), sorted(name for name, v in versions.items() if len(v) > 1)
