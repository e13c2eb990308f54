"""One instance becomes what is kept of a case that is written later, if at all.

All of it may happen in another process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from pytest_codegenie.corpus.case_file import FILE_NAME
from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import FileContent
from pytest_codegenie.datasets import Instance
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import hash_contents
from pytest_codegenie.importing.case_files import case_table
from pytest_codegenie.importing.lazy_cases import pack
from pytest_codegenie.importing.preparing import Job
from pytest_codegenie.importing.preparing import draft_of
from pytest_codegenie.importing.preparing import files_of
from pytest_codegenie.importing.toml_text import toml_of
from pytest_codegenie.models import BenchCase


@dataclass(frozen=True, slots=True)
class Converted:
    """What is kept of one case."""

    case_id: str
    #: Of its instance, with its id.
    place: str
    #: Its files, as a line.
    files: bytes
    #: Fields of ``LazyCase``, but where the files are.
    known: Mapping[str, Any]


def convert(job: Job, instance: Instance, number: int) -> Converted:
    """Return what is kept of the case of an instance; nothing is written.

    Args:
        job: What all cases have in common.
        instance: The instance.
        number: Not used.

    Raises:
        DatasetError: It cannot become a case.
    """
    del number
    draft = draft_of(job.dataset, instance, job.options)
    place = f"{instance.place} ({instance.instance_id})"
    files = files_of(job, draft, place)
    table = case_table(draft, job.task_class, job.day)
    case = _case(table, _digest(files, place), place)
    files[FILE_NAME] = FileContent(toml_of(table).encode())
    line = to_json(pack(files)) + b"\n"
    return Converted(draft.case_id, place, line, _known(case, draft))


def _digest(files: Mapping[str, FileContent], place: str) -> str:
    try:
        return hash_contents(
            {name: (one.data, one.executable) for name, one in files.items()}
        )
    except UnhashableEntryError as exc:
        raise DatasetError(place, exc.path, exc.reason) from exc
    except OSError as exc:
        raise DatasetError(place, "", f"{exc.filename}: {exc.strerror}") from exc


def _case(table: Mapping[str, Any], digest: str, place: str) -> BenchCase:
    try:
        return BenchCase.model_validate(
            {**table, "case_digest": digest, "directory": Path()}
        )
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        raise DatasetError(place, str(error["loc"][0]), error["msg"]) from None


def _known(case: BenchCase, draft: CaseDraft) -> Mapping[str, Any]:
    return {
        "case": case.model_dump(mode="json", exclude={"directory"}),
        "instance_id": draft.instance_id,
        "tests_timeout_seconds": draft.tests.timeout_seconds,
        "needs_setup": draft.task.environment.install != "none",
    }
