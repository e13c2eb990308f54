"""Requirement files: which there are, and what they refer to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.workspaces.environments.project_files import ProjectFiles


_REFERENCE = re.compile(
    r"(?:-r|--requirement|-c|--constraint)(?:\s+|\s*=\s*|(?=[\w./]))(\S+)"
)
#: ``.``, ``-e .[tests]``, ``--editable=./``
_ITSELF = re.compile(r"(?:(?:-e|--editable)[\s=]*)?(?:file:)?\./?(?:\[[^\]]*\])?")


@dataclass(frozen=True, slots=True)
class RequirementFile:
    """A requirement file with all that it refers to."""

    name: str
    #: It, or one that it refers to, installs the project itself.
    installs_project: bool


def read_requirement_file(files: ProjectFiles, name: str) -> RequirementFile:
    """Read a file and those it refers to.

    Raises:
        WorkspaceUnavailable: One is missing, cannot be read, lies outside of the tree,
            or refers to itself.
    """
    found = _read(files, name, ())
    return RequirementFile(name, found)


def _read(files: ProjectFiles, name: str, above: tuple[str, ...]) -> bool:
    """Read a file; return whether it installs the project itself."""
    if name in above:
        chain = " -> ".join([*above, name])
        raise WorkspaceUnavailable(f"requirement files refer to each other: {chain}")
    if not files.has(name):
        raise WorkspaceUnavailable(
            f"{above[-1] if above else 'input/task.toml'}: the requirement file "
            f"{name!r} is not in the repository"
        )
    installs_project = False
    for line in requirement_lines(files.text(name)):
        reference = _REFERENCE.fullmatch(line)
        if reference is None:
            installs_project |= _ITSELF.fullmatch(line) is not None
        elif "://" not in reference[1]:
            nested = posixpath.normpath(
                posixpath.join(posixpath.dirname(name), reference[1])
            )
            installs_project |= _read(files, nested, (*above, name))
    return installs_project


def requirement_lines(text: str) -> Iterator[str]:
    """Yield the lines that say something, without their comments."""
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        words = re.sub(r"(^|\s+)#.*", "", line).strip()
        if words:
            yield words
