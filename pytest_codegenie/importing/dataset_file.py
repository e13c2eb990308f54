"""``dataset.toml``: a dataset that is run as it is, and which of it."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from typing import Any

from pydantic import Field
from pydantic import ValidationError

from pytest_codegenie.datasets import Dataset
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_toml
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.errors import relative
from pytest_codegenie.hashing import UnhashableEntryError
from pytest_codegenie.hashing import digest_fault
from pytest_codegenie.hashing import hash_file
from pytest_codegenie.hashing import hash_tree
from pytest_codegenie.models import Record
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.registry import NAME_PATTERN


#: What a dataset file is called; ``lite.dataset.toml`` is one, too.
DATASET_FILE = "dataset.toml"
#: Of a directory that is a source: changes whenever somebody fetches.
_NOT_HASHED = ".git"
_Pattern = Annotated[str, Field(min_length=1)]


class DatasetTable(Record):
    """``[dataset]`` of a dataset file."""

    #: As ``codegenie list datasets`` shows it.
    format: str
    #: A file, or a directory, relative to the dataset file.
    source: Annotated[str, Field(min_length=1)]
    #: Of the source's bytes; of a directory as of a case, but for a ``.git`` in it.
    digest: str = ""
    #: Of the task class that the cases are in; "": the file's, without its endings.
    name: str = ""
    #: Only the first so many of what is selected, in the order of the source.
    limit: Annotated[int, Field(gt=0)] | None = None
    #: Shell patterns: only instances whose id, or whose case's id, is of one of them.
    select: list[_Pattern] = Field(default_factory=list)
    #: Shell patterns: no instances of these.
    exclude: list[_Pattern] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """What a dataset file says, checked as far as no format is asked."""

    path: Path
    table: DatasetTable
    #: Of the format, as they stand in the file.
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of the task class."""
        return self.table.name or _stem(self.path)

    @property
    def source(self) -> Path:
        """Absolute, no link in it resolved."""
        return self.path.parent / self.table.source

    def fault(self, key: str, reason: str) -> DatasetError:
        """Return the error that says what is wrong with a key of the file."""
        return DatasetError(relative(self.path), key, reason)


def is_dataset_file(path: Path) -> bool:
    """Tell by its name whether a file is one: no other is opened to find out."""
    return path.name == DATASET_FILE or path.name.endswith(f".{DATASET_FILE}")


def read_dataset_file(path: Path) -> DatasetFile:
    """Return what a dataset file says.

    Raises:
        DatasetError: It is no dataset file; the error names the key.
    """
    place = relative(path)
    try:
        document = read_toml(path)
    except DocumentError as exc:
        raise DatasetError(place, "", exc.reason) from exc
    for key in document:
        if key not in ("dataset", "options"):
            hint = did_you_mean(key, ("dataset", "options"))
            raise DatasetError(
                place, key, f"unknown table{hint}; there are [dataset] and [options]"
            )
    for key in ("dataset", "options"):
        if not isinstance(document.get(key, {}), dict):
            raise DatasetError(place, key, f"must be a table: [{key}]")
    if "dataset" not in document:
        raise DatasetError(
            place,
            "dataset",
            "the table is missing; it has format, source and digest. A file that is "
            "something else needs another name, or --ignore",
        )
    file = DatasetFile(
        path, _read_table(document["dataset"], place), document.get("options", {})
    )
    _check_name(file)
    return file


def make_format(
    file: DatasetFile, datasets: Mapping[str, str]
) -> tuple[Dataset, DatasetOptions]:
    """Return the format that a dataset file names, and its options.

    An option that is a path is relative to the dataset file, as the source is.

    Args:
        file: The dataset file.
        datasets: All formats there are.

    Raises:
        DatasetError: There is no such format, or an option is wrong.
    """
    try:
        dataset: Dataset = make_part("dataset", file.table.format, datasets)
    except UnknownPartError as exc:
        raise file.fault("dataset.format", str(exc)) from exc
    try:
        options = dataset.options_type.model_validate(dict(file.options))
    except ValidationError as exc:
        key, reason = _first_fault(exc, dataset.options_type)
        raise file.fault(
            f"options.{key}", f"{reason} (format {file.table.format!r})"
        ) from None
    here = file.path.parent
    paths = {key: here / one for key, one in options if isinstance(one, Path)}
    return dataset, options.model_copy(update=paths)


def check_source(file: DatasetFile) -> None:
    """See to it that the source is what the dataset file says that it is.

    Raises:
        DatasetError: It is missing, cannot be read or has another digest; the error
            says which it has.
    """
    given, now = file.table.digest, _source_digest(file)
    source, write = relative(file.source), f'write: digest = "{now}"'
    if not given:
        raise file.fault(
            "dataset.digest",
            "required, so that everybody runs the same; if that of "
            f"{source} is what you mean, {write}",
        )
    if fault := digest_fault(given):
        raise file.fault("dataset.digest", f"{fault}; for {source}, {write}")
    if given != now:
        raise file.fault(
            "dataset.digest",
            f"{source} is not what was meant, it does not have {given}; restore it, "
            f"or, if this is what you mean now, {write}",
        )


def _source_digest(file: DatasetFile) -> str:
    source = file.source
    try:
        if source.is_file():
            return hash_file(source)
        if not source.is_dir():
            # Opening a FIFO would wait for somebody to write to it.
            reason = (
                "is no file and no directory" if source.exists() else _missing(file)
            )
            raise file.fault("dataset.source", reason)
        if file.path.resolve().is_relative_to(source.resolve()):
            raise file.fault(
                "dataset.source",
                f"{file.table.source!r} holds this very file, and its digest would "
                "change with what is written here; move this file out of it",
            )
        return hash_tree(source, exclude=_NOT_HASHED).digest
    except UnhashableEntryError as exc:
        raise file.fault("dataset.source", f"{exc.path}: {exc.reason}") from exc
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise file.fault("dataset.source", f"cannot be read: {reason}") from exc


def _missing(file: DatasetFile) -> str:
    place = file.source.parent
    names = [path.name for path in place.iterdir()] if place.is_dir() else []
    return (
        f"there is no {relative(file.source)}{did_you_mean(file.source.name, names)}; "
        "a source is a file or a directory, by its path from this file (what is "
        "elsewhere can be made cases of: codegenie import)"
    )


def _read_table(table: dict[str, Any], place: str) -> DatasetTable:
    try:
        return DatasetTable.model_validate(table, strict=True)
    except ValidationError as exc:
        key, reason = _first_fault(exc, DatasetTable)
        raise DatasetError(place, f"dataset.{key}", reason) from None


def _first_fault(exc: ValidationError, model: type[Record]) -> tuple[str, str]:
    """Return the key at fault, and what is wrong with it."""
    error = exc.errors(include_url=False)[0]
    key = ".".join(map(str, error["loc"]))
    known = tuple(model.model_fields)
    if error["type"] == "missing":
        return key, "required key is missing"
    if error["type"] == "extra_forbidden":
        hint = did_you_mean(str(error["loc"][0]), known)
        return key, f"unknown key{hint}; known: {', '.join(known) or 'none'}"
    return key, f"{error['msg']}, got {reprlib.repr(error['input'])}"


def _stem(path: Path) -> str:
    return path.name.removesuffix(".toml").removesuffix(".dataset")


def _check_name(file: DatasetFile) -> None:
    if not NAME_PATTERN.fullmatch(file.name):
        whose = "is" if file.table.name else "is the file's, and"
        raise file.fault(
            "dataset.name",
            f"{file.name!r} {whose} no name of a task class; use lower-case letters, "
            "digits and '-': name = \"swe-bench-lite\"",
        )
