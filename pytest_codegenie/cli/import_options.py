"""What is given to ``codegenie import``, checked: format, its options, the day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import get_origin

from pydantic import ValidationError

from pytest_codegenie.cli.new import UsageFault
from pytest_codegenie.datasets import Dataset
from pytest_codegenie.datasets import DatasetOptions
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.parts import UnknownPartError
from pytest_codegenie.parts import make_part
from pytest_codegenie.session.installed import installed_parts


def make_dataset(name: str) -> Dataset:
    """Return the format of that name.

    Raises:
        UsageFault: There is none, or it cannot be made.
        ConfigError: The installed plugins contradict one another.
    """
    table = installed_parts().datasets
    try:
        dataset: Dataset = make_part("dataset", name, table)
    except UnknownPartError as exc:
        if name in table:
            raise UsageFault(str(exc)) from exc
        known = ", ".join(sorted(table)) or "none"
        raise UsageFault(
            f"unknown format {name!r}{did_you_mean(name, table)}; known: {known} "
            "(codegenie list datasets)"
        ) from exc
    return dataset


def options_of(dataset: Dataset, given: Sequence[str]) -> DatasetOptions:
    """Return the options of a format.

    Args:
        dataset: The format.
        given: ``KEY=VALUE`` each; a key of a list may be there again.

    Raises:
        UsageFault: A key is unknown or twice, or a value is none for it.
    """
    fields = dataset.options_type.model_fields
    values: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageFault(f"--option {text}: must be KEY=VALUE")
        if key not in fields:
            known = ", ".join(fields) or "none"
            raise UsageFault(
                f"--option {text}: {dataset.name!r} has no option {key!r}"
                f"{did_you_mean(key, fields)}; it has: {known}"
            )
        if _is_list(fields[key].annotation):
            values.setdefault(key, []).append(value)
        elif key in values:
            raise UsageFault(f"--option {text}: {key!r} is given twice")
        else:
            values[key] = value
    try:
        return dataset.options_type.model_validate(values)
    except ValidationError as exc:
        fault = exc.errors()[0]
        key = ".".join(str(part) for part in fault["loc"]) or dataset.name
        if fault["type"] == "missing":
            raise UsageFault(f"--option {key}=...: is required") from None
        raise UsageFault(
            f"--option {key}: {fault['msg']}, got {fault['input']!r}"
        ) from None


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple, set, frozenset)


def day_of(given: str | None, environment: Mapping[str, str]) -> dt.date:
    """Return the day that new cases have.

    Args:
        given: By the command line, ISO 8601; None: not given.
        environment: ``SOURCE_DATE_EPOCH`` comes next, then today, UTC.

    Raises:
        UsageFault: It is no day.
    """
    if given is not None:
        try:
            return dt.date.fromisoformat(given)
        except ValueError:
            raise UsageFault(
                f"--date: {given!r} is no day; write it as 2026-11-22"
            ) from None
    seconds = environment.get("SOURCE_DATE_EPOCH", "")
    if not seconds:
        return dt.datetime.now(dt.UTC).date()
    try:
        return dt.datetime.fromtimestamp(int(seconds), dt.UTC).date()
    except (ValueError, OverflowError, OSError):
        raise UsageFault(
            f"SOURCE_DATE_EPOCH: {seconds!r} is no number of seconds since 1970"
        ) from None
