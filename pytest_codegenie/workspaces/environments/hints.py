"""What is known of repositories beyond their files: the table ``hints.toml``."""

from __future__ import annotations

import functools
from pathlib import Path

from packaging.specifiers import SpecifierSet
from pydantic import Field
from pydantic import TypeAdapter

from pytest_codegenie.documents import read_toml
from pytest_codegenie.models import Record


class Hint(Record):
    """One table of ``hints.toml``; that file says what the keys mean."""

    versions: str = ""
    python: str = ""
    packages: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    build_packages: tuple[str, ...] = ()
    build_variables: dict[str, str] = Field(default_factory=dict)
    variables: dict[str, str] = Field(default_factory=dict)

    def is_about(self, version: str) -> bool:
        """Say whether it holds for a version of the project, "" for an unknown one."""
        if not self.versions:
            return True
        return bool(version) and SpecifierSet(self.versions).contains(
            version, prereleases=True
        )


_TABLE = TypeAdapter(dict[str, list[Hint]])


@functools.cache
def read_hints() -> dict[str, list[Hint]]:
    """Return the table: ``owner/project`` to its hints, in order."""
    table = read_toml(Path(__file__).with_name("hints.toml"))
    return _TABLE.validate_python(table)


def find_hint(repository: str, version: str) -> Hint | None:
    """Return what is known of a repository at a version, as it calls itself there."""
    for hint in read_hints().get(repository.lower(), ()):
        if hint.is_about(version):
            return hint
    return None
