"""Where the cases of an import come from, as ``expected/origin.toml`` says it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.hashing import hash_file


#: What another copy of the dataset may have otherwise, and the case still be the same:
#: a longer file, another name. The case says which it was made from.
OF_THE_COPY = ("source", "source_digest")
_RECORDED_OPTIONS = ("split", "revision")


def origin_of(
    format_name: str, source: str, options: DatasetOptions
) -> Mapping[str, str]:
    """Return what the origins of all cases of a source have in common.

    No path of this machine, no time and no version of this program: the same input
    gives the same bytes everywhere, and in later releases too where they read a format
    as before.

    Args:
        format_name: As in ``codegenie import FORMAT``.
        source: What is imported.
        options: Of the format.

    Raises:
        OSError: The file cannot be read.
    """
    path = Path(source)
    origin = {"format": format_name}
    if path.exists():
        origin["source"] = path.resolve().name
    else:
        origin["source"] = source
    if path.is_file():
        origin["source_digest"] = hash_file(path)
    for key in _RECORDED_OPTIONS:
        if value := getattr(options, key, ""):
            origin[key] = str(value)
    return origin
