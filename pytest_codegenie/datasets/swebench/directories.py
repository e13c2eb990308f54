"""Task repositories of SWE-bench 5: a directory for each instance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import type_name
from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_text
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import relative
from pytest_codegenie.trees import walk


_TASK = "task.yaml"
_TESTS = "tests.json"
#: Files that a text patch cannot carry; laid over the tree with the tests.
_ASSETS = "test_assets"
#: Key of a row to the file that holds it.
_FILES = {
    "patch": "gold.patch",
    "test_patch": "test.patch",
    "eval_script": "eval.sh",
    "problem_statement": "problem_statement.md",
}
_OPTIONAL = {"hints_text": "hints.md"}
#: Not a key of a row: the directory itself, for what else is in it.
DIRECTORY = "__directory__"


def task_directories(source: Path) -> list[Path]:
    """Return the directories of instances in a source, sorted; empty: it has none.

    Args:
        source: A task repository, its ``tasks/``, or one instance's directory.
    """
    if (source / _TASK).is_file():
        return [source]
    root = source / "tasks" if (source / "tasks").is_dir() else source
    if not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if (path / _TASK).is_file())


def directory_rows(directories: list[Path], split: str) -> Iterator[Row]:
    """Yield a row for each directory.

    Args:
        directories: Of instances.
        split: Rows of another are left out; "": all are taken.

    Raises:
        DatasetError: A file is missing or cannot be read.
    """
    for directory in directories:
        row = _row(directory)
        if not split or row.data.get("split") == split:
            yield row


def overlay_of(data: Mapping[str, Any]) -> Mapping[str, FileContent]:
    """Return the files that lie beside the row in its directory, for the tests."""
    directory = data.get(DIRECTORY)
    if not isinstance(directory, Path):
        return {}
    assets = directory / _ASSETS
    if not assets.is_dir() or assets.is_symlink():
        return {}
    return {
        f"expected/overlay/{path}": FileContent(Path(entry.path))
        for path, entry in walk(assets)
        if entry.is_file(follow_symlinks=False)
    }


def _row(directory: Path) -> Row:
    place = relative(directory)
    meta = _table(place, _TASK, _read(directory, _TASK))
    tests = _table(place, _TESTS, _read(directory, _TESTS))
    data = {"instance_id": directory.name, **meta, **tests}
    data |= {key: _read(directory, name) for key, name in _FILES.items()}
    for key, name in _OPTIONAL.items():
        if (directory / name).is_file():
            data[key] = _read(directory, name)
    return Row(place, {**data, DIRECTORY: directory})


def _read(directory: Path, name: str) -> Any:
    """Return what a file holds: text, or what YAML or JSON in it says."""
    path = directory / name
    if path.is_symlink():
        raise DatasetError(relative(directory), name, "is a link; put the file there")
    try:
        if path.suffix == ".yaml":
            return read_yaml(path)
        text = read_text(path)
    except DocumentError as exc:
        raise DatasetError(relative(directory), name, exc.reason) from exc
    if path.suffix != ".json":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise DatasetError(relative(directory), name, f"not JSON: {exc}") from None


def _table(place: str, name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DatasetError(place, name, f"must be a mapping, is {type_name(value)}")
    return value
