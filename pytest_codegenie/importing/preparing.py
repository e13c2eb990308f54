"""One instance becomes the files of a case, in a place where nobody looks yet.

All of it may happen in another process.
"""

from __future__ import annotations

import datetime as dt
import filecmp
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Literal

from pytest_codegenie.corpus import hash_case
from pytest_codegenie.corpus import read_task
from pytest_codegenie.corpus.case_file import FILE_NAME
from pytest_codegenie.corpus.case_file import read_case_file
from pytest_codegenie.datasets import CaseDraft
from pytest_codegenie.datasets import Dataset
from pytest_codegenie.datasets import FileContent
from pytest_codegenie.datasets import Instance
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_toml
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.hashing import PREFIX
from pytest_codegenie.importing.case_files import ORIGIN_FILE
from pytest_codegenie.importing.case_files import case_files
from pytest_codegenie.importing.case_files import case_table
from pytest_codegenie.importing.case_files import write_files
from pytest_codegenie.importing.origin import OF_THE_COPY
from pytest_codegenie.importing.paths import clash
from pytest_codegenie.importing.paths import leads_out
from pytest_codegenie.importing.paths import path_fault
from pytest_codegenie.importing.toml_text import toml_of
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.trees import walk


#: Where cases are until they are whole, in ``cases/``; no case id starts with a dot.
STAGING = ".import"
_CASE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_UNSIGNED = PREFIX + "0" * 64
_DATES = ("added_at", "last_validated_at")


@dataclass(frozen=True, slots=True)
class Job:
    """What all cases of an import have in common."""

    dataset: Dataset
    options: Any
    cases_dir: Path
    task_class: str
    origin: Mapping[str, str]
    day: dt.date
    #: The dataset's own directory: what it names by links must be in there.
    root: Path
    #: Whether a case that is there, and differs, is written anew.
    replace: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case that an instance became."""

    case_id: str
    instance_id: str
    place: str
    #: ``kept``: it is there already. ``differs``: it is there, and is another one.
    state: Literal["new", "kept", "differs", "replaced"]
    #: Of the case as it will be.
    digest: str = ""
    #: Where it lies until it is moved to its place; None: it stays where it is.
    staged: Path | None = None
    #: Files that differ.
    differs: tuple[str, ...] = ()


def draft_of(dataset: Dataset, instance: Instance, options: Any) -> CaseDraft:
    """Return the draft of an instance, checked as far as it is untrusted.

    Raises:
        DatasetError: It cannot become a case; or the format fails on it.
    """
    place = f"{instance.place} ({instance.instance_id})"
    try:
        draft = dataset.draft(instance, options)
    except DatasetError:
        raise
    except Exception as exc:
        # One odd instance, or a fault in somebody's format, must not stop the others.
        raise DatasetError(
            place,
            "",
            f"the format {dataset.name!r} failed on it: {type(exc).__name__}: {exc}",
        ) from exc
    if not _CASE_ID.fullmatch(draft.case_id):
        raise DatasetError(
            place,
            "instance_id",
            f"gives the case id {draft.case_id!r}; an id starts with a letter or digit "
            "and holds letters, digits, '.', '_' and '-', 128 at most",
        )
    for name in draft.files:
        if fault := path_fault(name):
            raise DatasetError(place, "files", f"{name!r} {fault}")
    return draft


def prepare(job: Job, instance: Instance, number: int) -> Prepared:
    """Write the case of an instance beside the others, unless it is there.

    Args:
        job: The import.
        instance: The instance.
        number: No other instance's.

    Raises:
        DatasetError: It cannot become a case.
        OSError: It cannot be written.
    """
    draft = draft_of(job.dataset, instance, job.options)
    place = f"{instance.place} ({instance.instance_id})"
    files = files_of(job, draft, place)
    table = case_table(draft, job.task_class, job.day)
    directory = job.cases_dir / draft.case_id
    state: Literal["new", "replaced"] = "new"
    if directory.is_dir():
        differs = tuple(_differing(directory, files))
        if job.replace and not differs and _table_differs(directory, table):
            differs = (FILE_NAME,)
        if not differs or not job.replace:
            return Prepared(
                draft.case_id,
                draft.instance_id,
                place,
                "differs" if differs else "kept",
                "" if differs else hash_case(directory).digest,
                differs=differs,
            )
        state = "replaced"
    staged = _staging_place(job.cases_dir / STAGING, draft.case_id, number)
    digest = _stage(staged, files, table, place)
    return Prepared(draft.case_id, draft.instance_id, place, state, digest, staged)


def files_of(job: Job, draft: CaseDraft, place: str) -> dict[str, FileContent]:
    """Return the files of a draft.

    Raises:
        DatasetError: One cannot be written as UTF-8, or is not the dataset's own.
    """
    try:
        files = case_files(draft, job.origin)
    except UnicodeEncodeError as exc:
        raise DatasetError(
            place,
            "",
            f"holds \\u{ord(exc.object[exc.start]):04x} alone, half of a surrogate "
            "pair, which is no character; mend the row",
        ) from None
    if name := clash(files):
        raise DatasetError(place, "files", f"{name!r} is a file and a directory")
    for name, content in files.items():
        if isinstance(content.data, Path):
            _check_source(content.data, job.root, f"{place}: {name}")
    return files


def _check_source(path: Path, root: Path, place: str) -> None:
    if leads_out(path, root):
        raise DatasetError(
            place, "", "is a link that leads out of the dataset; put a copy there"
        )
    if not path.is_file():
        raise DatasetError(place, "", f"there is no file {path.name} in the dataset")


def _staging_place(staging: Path, case_id: str, number: int) -> Path:
    """Make a directory that nobody else fills; it has the case's name."""
    try:
        (staging / case_id).mkdir(parents=True)
        return staging / case_id
    except FileExistsError:
        # Another instance has the same id; which of the two goes is found out later.
        place = staging / f".{number}" / case_id
        place.mkdir(parents=True)
        return place


def _stage(
    staged: Path, files: Mapping[str, FileContent], table: dict[str, Any], place: str
) -> str:
    """Write a case, see that it can be loaded, and return its digest."""
    try:
        write_files(staged, files)
        (staged / FILE_NAME).write_text(toml_of(table), encoding="utf-8")
        digest = hash_case(staged).digest
        case = read_case_file(staged, task_class=table["task_class"], digest=_UNSIGNED)
        read_task(case)
    except BenchCaseLoadError as exc:
        remove_tree(staged)
        # A format let something through that no case may have.
        raise DatasetError(place, exc.field, exc.reason) from exc
    except BaseException:
        remove_tree(staged)
        raise
    return digest


def _differing(directory: Path, files: Mapping[str, FileContent]) -> list[str]:
    """Return what a case that is there has otherwise, or more, or less; sorted."""
    there = {
        path
        for path, entry in walk(directory, skip=FILE_NAME)
        if not entry.is_dir(follow_symlinks=False)
    }
    differs = there ^ files.keys()
    for name in there & files.keys():
        if not _is_same(directory / name, name, files[name]):
            differs.add(name)
    if not (directory / FILE_NAME).is_file():
        differs.add(FILE_NAME)
    return sorted(differs)


def _is_same(path: Path, name: str, content: FileContent) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    if bool(path.stat().st_mode & 0o100) != content.executable:
        return False
    if isinstance(content.data, Path):
        return filecmp.cmp(path, content.data, shallow=False)
    data = path.read_bytes()
    if name == ORIGIN_FILE and data != content.data:
        return _origin(path) == _origin(content.data)
    return data == content.data


def _origin(file: Path | bytes) -> dict[str, Any] | None:
    """Return an origin without what only this copy of the dataset has."""
    import tomli

    try:
        table = (
            read_toml(file) if isinstance(file, Path) else tomli.loads(file.decode())
        )
    except (DocumentError, ValueError):
        return None
    return {key: value for key, value in table.items() if key not in OF_THE_COPY}


def _table_differs(directory: Path, table: Mapping[str, Any]) -> bool:
    """Tell whether ``case.toml`` says anything but its dates otherwise."""
    try:
        there = read_toml(directory / FILE_NAME)
    except DocumentError:
        return True
    return {key: value for key, value in there.items() if key not in _DATES} != {
        key: value for key, value in table.items() if key not in _DATES
    }
