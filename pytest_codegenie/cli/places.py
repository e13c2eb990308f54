"""From what a person types to task class directories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.corpus import find_task_classes
from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.errors import TaskClassNotFound


def add_bench_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--bench``."""
    parser.add_argument(
        "--bench",
        type=Path,
        default=Path("bench"),
        metavar="DIR",
        help="directory that holds the task classes (default: bench)",
    )


def find_places(names: Sequence[str], bench: Path) -> list[Path]:
    """Return the task class directories of names or paths; all of them for none.

    Raises:
        TaskClassNotFound: A name is none, or there is no task class at all.
    """
    known = find_task_classes(bench) if bench.is_dir() else []
    if not names and not known:
        raise TaskClassNotFound("*", place=str(bench))
    found: dict[Path, None] = {}
    for name in names:
        path = next(
            (path for path in (Path(name), bench / name) if is_task_class(path)), None
        )
        below = find_task_classes(Path(name)) if path is None else [path]
        if not below:
            raise TaskClassNotFound(
                name, [path.name for path in known], place=str(bench)
            )
        found.update(dict.fromkeys(below))
    return list(found) or known
