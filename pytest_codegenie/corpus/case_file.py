"""``case.toml``: a case's identity, read and checked key by key."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from pathlib import PurePosixPath
from reprlib import Repr
from typing import Any

from pydantic import ValidationError

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_toml
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.hashing import digest_fault
from pytest_codegenie.logs import emit
from pytest_codegenie.models import BenchCase


FILE_NAME = "case.toml"
STALE_AFTER_DAYS = 90

KEYS = tuple(key for key in BenchCase.model_fields if key != "directory")
_DATES = ("added_at", "last_validated_at")
_NEEDS_COMMIT = ("outcome-ledger-derived", "regression-converted")
#: What pydantic would say with a regular expression, or of Python's types.
_RULES = {
    "case_id": "must start with a letter or digit and hold only letters, digits, '.', "
    "'_' and '-', 128 at most",
    "task_class": "must hold only lower-case letters, digits and '-'",
    "cassette_canary_pin": "must be 32 lower-case hex digits, random and never used "
    "before",
    "tags": "must be a list of strings",
}
_repr = Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 80


def read_case_file(directory: Path, *, task_class: str, digest: str) -> BenchCase:
    """Return the case described by ``directory/case.toml``.

    Args:
        directory: The case's directory.
        task_class: The name that the file has to give.
        digest: The case's signed digest. Where the file has a ``case_digest`` of its
            own, that is what the case gets: the caller compares it.

    Raises:
        BenchCaseLoadError: The file cannot be read, or a key is missing, unknown or
            wrong; the error names the key.
    """
    table = read_case_table(directory)
    for key in table:
        if key not in KEYS:
            raise BenchCaseLoadError(
                directory,
                key,
                f"unknown key in {FILE_NAME}{did_you_mean(key, KEYS)}; known keys: "
                f"{', '.join(KEYS)}",
            )
    values = dict(table)
    for key in _DATES:
        if isinstance(values.get(key), str):
            values[key] = _date(directory, key, values[key])
    if isinstance(values.get("tags"), list):
        values["tags"] = tuple(values["tags"])
    values = {"case_digest": digest, **values, "directory": directory.absolute()}
    try:
        case = BenchCase.model_validate(values, strict=True)
    except ValidationError as exc:
        raise _load_error(directory, exc) from None
    _check_identity(case, directory, task_class)
    return case


def read_case_table(directory: Path) -> dict[str, Any]:
    """Return ``directory/case.toml`` as it is.

    Raises:
        BenchCaseLoadError: It cannot be read, or lies elsewhere.
    """
    path = directory / FILE_NAME
    for link, field in ((directory, "directory"), (path, FILE_NAME)):
        if os.path.islink(link):  # noqa: PTH114 -- hot
            raise BenchCaseLoadError(
                directory, field, "is a symbolic link; a case has files of its own"
            )
    try:
        return read_toml(path)
    except DocumentError as exc:
        reason = exc.reason
        if reason == "missing":
            reason = (
                "missing; a directory in cases/ is a case: restore the file, or move "
                "the directory away"
            )
        raise BenchCaseLoadError(directory, FILE_NAME, reason) from exc


def warn_when_stale(case: BenchCase, today: dt.date) -> None:
    """Log ``loader.case_stale`` for a case that nobody validated for long."""
    validated = case.last_validated_at
    day = (
        validated.astimezone(dt.UTC).date()
        if isinstance(validated, dt.datetime)
        else validated
    )
    days = (today - day).days
    if days > STALE_AFTER_DAYS:
        emit("loader.case_stale", level="warning", case_id=case.case_id, days=days)


def _date(directory: Path, key: str, text: str) -> dt.date:
    """Read a date or date-time that stands in quotes."""
    for parse in (dt.date.fromisoformat, dt.datetime.fromisoformat):
        try:
            return parse(text)
        except ValueError:
            continue
    raise BenchCaseLoadError(
        directory, key, f"must be an ISO 8601 date such as 2026-11-21, got {text!r}"
    )


def _check_identity(case: BenchCase, directory: Path, task_class: str) -> None:
    if case.case_id != directory.name:
        raise BenchCaseLoadError(
            directory,
            "case_id",
            f"is {case.case_id!r}, but the directory is {directory.name!r}; "
            "make them equal",
        )
    if case.task_class != task_class:
        raise BenchCaseLoadError(
            directory,
            "task_class",
            f"is {case.task_class!r}, but the case lies in task class {task_class!r}; "
            "make them equal",
        )
    if case.source in _NEEDS_COMMIT and not case.commit_sha:
        raise BenchCaseLoadError(
            directory, "commit_sha", f"is required where source is {case.source!r}"
        )
    if case.cassette_path is not None:
        path = PurePosixPath(case.cassette_path)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise BenchCaseLoadError(
                directory,
                "cassette_path",
                f"must be a relative path inside the case, got {case.cassette_path!r}",
            )


def _load_error(directory: Path, exc: ValidationError) -> BenchCaseLoadError:
    error = exc.errors()[0]
    # The first part of a location is the key; a union adds the member it tried.
    field = str(error["loc"][0])
    if error["type"] == "missing":
        reason = f"required key is missing from {FILE_NAME}"
    elif field == "case_digest":
        reason = digest_fault(error["input"])
    elif field in _RULES:
        reason = f"{_RULES[field]}, got {_shown(error['input'])}"
    elif field in _DATES:
        reason = (
            "must be a date such as 2026-11-21, or a date-time with a time zone, got "
            f"{_shown(error['input'])}"
        )
    else:
        reason = f"{error['msg']}, got {_shown(error['input'])}"
    return BenchCaseLoadError(directory, field, reason)


def _shown(value: object) -> str:
    if isinstance(value, dt.date | dt.time):
        return str(value)
    return _repr.repr(value)
