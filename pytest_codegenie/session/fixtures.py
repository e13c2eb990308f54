"""What the fixtures for rubric tests stand on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_codegenie.corpus import is_task_class
from pytest_codegenie.corpus import read_task_class
from pytest_codegenie.errors import relative
from pytest_codegenie.models import BenchCase
from pytest_codegenie.registry import TaskClass


def enclosing_task_class(path: Path) -> TaskClass:
    """Return the task class that a test file belongs to.

    Raises:
        pytest.UsageError: It belongs to none.
    """
    for directory in path.parents:
        if is_task_class(directory):
            return read_task_class(directory)
    raise pytest.UsageError(
        f"{relative(path)}: the codegenie fixtures are for tests below a task class "
        "directory, one with registration.py and cases/: move the test there"
    )


def make_case(
    task_class: str, directory: Path, keys: Mapping[str, object]
) -> BenchCase:
    """Return a case record with ``keys`` over harmless defaults."""
    day = dt.date(2026, 1, 1)
    values: dict[str, object] = {
        "case_id": "case",
        "task_class": task_class,
        "disposition": "positive",
        "difficulty": "easy",
        "source": "curated",
        "curation_class": "held-out",
        "added_at": day,
        "last_validated_at": day,
        "cassette_canary_pin": "0" * 32,
        "case_digest": "blake3:" + "0" * 64,
        "directory": directory,
    }
    return BenchCase.model_validate(values | dict(keys))
