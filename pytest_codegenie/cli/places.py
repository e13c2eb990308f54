"""From what a person types to directories: of task classes, and of runs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from pytest_codegenie.config import load_config
from pytest_codegenie.corpus import find_task_classes
from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.errors import TaskClassNotFound
from pytest_codegenie.evidence import LATEST
from pytest_codegenie.evidence import find_run


DEFAULT_BENCH = Path("bench")


def add_bench_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--bench``."""
    parser.add_argument(
        "--bench",
        type=Path,
        default=DEFAULT_BENCH,
        metavar="DIR",
        help="directory that holds the task classes (default: bench)",
    )


def add_out_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where runs are kept (default: as configured, or .codegenie)",
    )


def find_out(given: Path | None) -> Path:
    """Return where runs are kept: as ``--out`` says, or else as configured.

    Raises:
        ConfigError: The configuration cannot be read.
    """
    if given is not None:
        return given
    return load_config(
        options={}, environment=os.environ, pyproject=Path("pyproject.toml")
    ).out


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``RUN``, as the option ``name``."""
    parser.add_argument(
        "name",
        nargs="?",
        default=LATEST,
        metavar="RUN",
        help="its id, its directory, or 'latest', the one that began last (default)",
    )


def find_named_run(name: str, out: Path | None) -> Path:
    """Return the directory of a run, as a person names it.

    Args:
        name: ``latest``, an id, or a directory.
        out: Where runs are kept; None: as configured.

    Raises:
        RunNotFound: There is no such run.
        RunStoreError: Which one is the latest cannot be told.
        ConfigError: The configuration cannot be read.
    """
    return find_run(name, lambda: find_out(out))


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
