"""``image_assets`` of SWE-bench Multimodal: pictures that a case has not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import check_text
from pytest_codegenie.errors import DatasetError


_KEY = "image_assets"
_SHOWN = 20


def images_of(row: Row) -> Mapping[str, str]:
    """Return what is worth saying of a row's pictures, for ``origin.toml``.

    A case has the problem's text alone, and patches that are text.

    Raises:
        DatasetError: They are no object, nor one in JSON.
    """
    said = _object(row)
    problem = [*_addresses(said.get("problem_statement"), "url")]
    files = [
        path
        for key in ("test_patch", "patch")
        for path in _addresses(said.get(key), "path")
    ]
    lines = {
        "images_of_problem": "\n".join(problem[:_SHOWN]),
        "files_without_content": "\n".join(files[:_SHOWN]),
    }
    for text in lines.values():
        check_text(row, _KEY, text)
    return {key: text for key, text in lines.items() if text}


def _object(row: Row) -> Mapping[str, Any]:
    value = row.data.get(_KEY) or {}
    if isinstance(value, str):
        try:
            value = json.loads(value) or {}
        except (ValueError, RecursionError) as exc:
            raise DatasetError(row.place, _KEY, f"is text, but no JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise DatasetError(row.place, _KEY, "must be an object of lists of images")
    return value


def _addresses(value: Any, key: str) -> Iterator[str]:
    """Yield the texts of a list, or those that its objects have under a key."""
    for item in value if isinstance(value, list) else ():
        address = item.get(key) if isinstance(item, dict) else item
        if isinstance(address, str):
            yield address
