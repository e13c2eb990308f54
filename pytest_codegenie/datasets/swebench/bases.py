"""``--option bases=FILE``: where the code of instances is, and what it runs with."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from typing import Literal

from pydantic import ValidationError

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_toml
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import relative
from pytest_codegenie.models import Positive
from pytest_codegenie.models import Record
from pytest_codegenie.task_files import Sha256


class Basis(Record):
    """One table of the file; what it does not say is left to the row."""

    #: As in ``[repository]`` of ``task.toml``. A relative path is one from the file's
    #: directory; a file there is copied into the case.
    source: str = ""
    sha256: Sha256 = ""
    base_commit: str = ""
    python: str = ""
    install: Literal["auto", "none"] | list[str] | None = None
    image: str = ""
    #: Of the test run.
    timeout_seconds: Positive | None = None
    #: Takes the place of the row's.
    test_command: str = ""
    #: What reads its output.
    parser: str = ""


class Bases:
    """The tables of a file: one for an instance, one for all of a repository.

    Args:
        path: The file.

    Raises:
        DatasetError: It cannot be read, or a table of it is wrong.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tables = _read(path, _changed_at(path))

    def of(self, instance_id: str, repo: str) -> Basis:
        """Return what is said of an instance; its own table precedes."""
        given: dict[str, Any] = {}
        for name in (repo, instance_id):
            table = self._tables.get(name)
            if table is not None:
                given |= table.model_dump(exclude_unset=True)
        return Basis.model_validate(given)


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as exc:
        raise DatasetError(
            relative(path), "", f"cannot be read: {exc.strerror}; see --option bases"
        ) from exc


@functools.lru_cache(maxsize=4)
def _read(path: Path, _changed_at: int) -> Mapping[str, Basis]:
    try:
        document = read_toml(path)
    except DocumentError as exc:
        raise DatasetError(relative(path), "", exc.reason) from exc
    return {name: _basis(path, name, table) for name, table in document.items()}


def _basis(path: Path, name: str, table: Any) -> Basis:
    if not isinstance(table, dict):
        raise DatasetError(
            relative(path),
            name,
            "must be a table that is named by an instance's id or a repository: "
            '["pallets__flask-4992"]',
        )
    try:
        return Basis.model_validate(table, strict=True)
    except ValidationError as exc:
        fault = exc.errors()[0]
        key = str(fault["loc"][0]) if fault["loc"] else ""
        said = f"{fault['msg']}, got {fault['input']!r:.80}"
        if fault["type"] == "extra_forbidden":
            known = tuple(Basis.model_fields)
            said = f"unknown key{did_you_mean(key, known)}; known: {', '.join(known)}"
        raise DatasetError(relative(path), f"{name}.{key}", said) from None
