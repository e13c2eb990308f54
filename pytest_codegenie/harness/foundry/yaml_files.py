"""Reading YAML into a record, with the line of whatever is wrong."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import TypeVar
from typing import get_args

import yaml
from pydantic import BaseModel
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import parse_yaml
from pytest_codegenie.documents import read_text
from pytest_codegenie.errors import ProjectError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import Record


_Some = TypeVar("_Some", bound=Record)


def read_document(path: Path) -> str:
    """Return the text of a project's file; its lines end as on this system.

    Raises:
        ProjectError: It is missing, or no UTF-8 text.
    """
    try:
        return read_text(path).replace("\r\n", "\n")
    except DocumentError as exc:
        raise ProjectError(path, exc.reason) from exc


def read_yaml_record(path: Path, model: type[_Some]) -> _Some:
    """Return a YAML file as a record; an empty file has all defaults.

    Raises:
        ProjectError: It is missing, no YAML, or a key or value in it is wrong.
    """
    return parse_record(read_document(path), model, path)


def parse_record(text: str, model: type[_Some], path: Path, above: int = 0) -> _Some:
    """Return a YAML text as a record.

    Args:
        text: The text.
        model: Of the record.
        path: For the message.
        above: Lines of the file that stand above the text.

    Raises:
        ProjectError: It is no YAML, or a key or value in it is wrong.
    """
    values = _parse(text, path, above)
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ProjectError(
            path, f"must be keys and values, got {reprlib.repr(values)}", above + 1
        )
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as exc:
        fault = _deepest(exc.errors())
        line = _line_of(text, [part for part in fault["loc"] if part != "CommandGate"])
        raise ProjectError(path, _reason(fault, model), above + line) from None


def _parse(text: str, path: Path, above: int) -> Any:
    try:
        return parse_yaml(text)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        line = above + mark.line + 1 if mark else None
        raise ProjectError(path, f"not usable YAML: {exc.problem}", line) from exc
    except RecursionError:
        raise ProjectError(path, "not usable YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError) as exc:
        reason = " ".join(str(exc).split())
        raise ProjectError(path, f"not usable YAML: {reason}") from exc


def _deepest(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    """Return the first fault; of the ways that one value may be read, the best one."""
    first = errors[0]
    alike = [error for error in errors if error["loc"][:2] == first["loc"][:2]]
    return max(alike, key=lambda error: len(error["loc"]))


def _reason(fault: ErrorDetails, model: type[Record]) -> str:
    parts = [str(part) for part in fault["loc"] if not _is_branch(part)]
    key = ".".join(parts)
    if fault["type"] == "extra_forbidden":
        known = _keys(model, parts[:-1])
        words = f"unknown key{did_you_mean(parts[-1], known)}"
        return f"{key}: {words}; known: {', '.join(sorted(known))}"
    if fault["type"] == "missing":
        return f"{key}: required key is missing"
    words = fault["msg"].removeprefix("Value error, ")
    return f"{key}: {words}, got {reprlib.repr(fault['input'])}"


def _is_branch(part: int | str) -> bool:
    """Say whether a part of a place is pydantic's name for a way to read a value."""
    return isinstance(part, str) and part.startswith(("constrained-", "CommandGate"))


def _keys(model: type[BaseModel], parts: Sequence[str]) -> tuple[str, ...]:
    """Return the keys that a table of a file may have."""
    for part in parts:
        if part.isdigit():
            continue
        models = list(_models(model.model_fields[part].annotation))
        if not models:
            return ()
        model = models[-1]
    return tuple(model.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _line_of(text: str, place: Sequence[int | str]) -> int:
    """Return the line, 1-based, of a key or of an entry of a list."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    line = 1
    for part in place:
        found = _inside(node, part)
        if found is None:
            break
        line, node = found
    return line


def _inside(node: yaml.Node | None, part: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        if part < len(node.value):
            return node.value[part].start_mark.line + 1, node.value[part]
    return None
