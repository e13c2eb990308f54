"""The files of a sample: their text, data URLs, or files beside the dataset."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Collection
from pathlib import Path
from pathlib import PurePosixPath
from urllib.parse import unquote_to_bytes

from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import check_text
from pytest_codegenie.datasets.rows import type_name
from pytest_codegenie.errors import DatasetError


_REPO = "input/repo"
#: A longer value is a file's text, not its name.
_MAX_NAME = 1000


def sample_files(
    row: Row, key: str, directory: Path, taken: Collection[str]
) -> dict[str, FileContent]:
    """Return the files of a sample, below ``input/repo``.

    A value that names a file or directory beside the dataset stands for that, as with
    Inspect; nothing is fetched.

    Args:
        row: The sample.
        key: Of its files.
        directory: Of the dataset.
        taken: Names that a sample may not use.

    Raises:
        DatasetError: A path leads out of the case, or out of the dataset.
    """
    files: dict[str, FileContent] = {}
    for name, value in _table(row, key).items():
        place = f"{key}.{name}"
        path = _inside(row, place, name, taken)
        for below, content in _contents(row, place, value, directory).items():
            files[str(PurePosixPath(_REPO, path, below))] = content
    return files


def _table(row: Row, key: str) -> dict[str, str]:
    value = row.data.get(key)
    if value in (None, "") or value != value:
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as exc:
            raise DatasetError(row.place, key, f"is no JSON: {exc}") from exc
    if not isinstance(value, dict) or not all(
        isinstance(text, str) for text in value.values()
    ):
        raise DatasetError(
            row.place, key, f"must be paths and their texts, is {type_name(value)}"
        )
    return value


def _inside(row: Row, place: str, name: str, taken: Collection[str]) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise DatasetError(
            row.place,
            place,
            "must be a path in the working directory: the rest of a sandbox's file "
            "system is not the case's",
        )
    if ":" in path.parts[0]:
        raise DatasetError(row.place, place, "names a sandbox; a case has one")
    if ".git" in map(str.lower, path.parts):
        raise DatasetError(row.place, place, "is git's own; a case has its own")
    if path.parts[0] in taken:
        raise DatasetError(row.place, place, "is where the answer goes; rename it")
    return path


def _contents(
    row: Row, place: str, value: str, directory: Path
) -> dict[str, FileContent]:
    """Return what a value stands for, by path below its name."""
    if value.startswith("data:"):
        return {"": FileContent(_decoded(row, place, value))}
    if value.startswith(("http://", "https://", "s3://", "file://")):
        raise DatasetError(
            row.place, place, f"nothing is fetched: {value!r}; put the file there"
        )
    found = _beside(directory, value)
    if found is None:
        check_text(row, place, value)
        return {"": FileContent(value.encode())}
    return _copied(row, place, found, directory.resolve())


def _decoded(row: Row, place: str, value: str) -> bytes:
    head, comma, data = value.partition(",")
    try:
        if not comma:
            raise ValueError("it has no comma")
        if head.endswith(";base64"):
            return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise DatasetError(row.place, place, f"is no data URL: {exc}") from exc
    return unquote_to_bytes(data)


def _beside(directory: Path, value: str) -> Path | None:
    """Return the file or directory that a value names; None: it is a text."""
    if not value.strip() or len(value) > _MAX_NAME or "\n" in value or "\0" in value:
        return None
    path = directory / value
    try:
        return path if path.exists() else None
    except OSError:
        return None


def _copied(row: Row, place: str, path: Path, top: Path) -> dict[str, FileContent]:
    """Return a file, or those of a directory; none from outside of the dataset."""
    paths = [path]
    if path.is_dir():
        walked = os.walk(path)
        paths = [Path(here, name) for here, _, names in walked for name in names]
    files: dict[str, FileContent] = {}
    for one in sorted(paths):
        real = one.resolve()
        if not real.is_relative_to(top):
            raise DatasetError(
                row.place, place, f"leads out of the dataset's directory, to {real}"
            )
        if not real.is_file():
            raise DatasetError(row.place, place, f"{one} is no file")
        executable = bool(real.stat().st_mode & 0o100)
        below = "" if one == path else one.relative_to(path).as_posix()
        files[below] = FileContent(real, executable=executable)
    return files
