"""What a file of the format ``custom`` says, checked key by key, with its lines."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Literal

import yaml
from pydantic import BeforeValidator
from pydantic import ConfigDict
from pydantic import Field
from pydantic import StringConstraints
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_text
from pytest_codegenie.documents import read_yaml
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import Difficulty
from pytest_codegenie.models import Disposition
from pytest_codegenie.models import Positive
from pytest_codegenie.models import Record
from pytest_codegenie.models import VerdictRule
from pytest_codegenie.task_files import Sha256


def _text(value: Any) -> Any:
    return "" if value is None else value


def _list(value: Any) -> Any:
    return [] if value is None else value


#: A key with nothing behind it is as good as none.
Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(_list)]
Given = Annotated[str, StringConstraints(min_length=1)]
Commit = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{7,64})?$")]


class CustomMetadata(Record):
    """``metadata`` of an instance. What it does not know is recorded as the origin."""

    model_config = ConfigDict(extra="allow")

    #: A git bundle beside the file, with ``base_commit`` in it.
    bundle: Text = ""
    #: A directory beside the file that is the code as it is.
    directory: Text = ""
    #: As ``repository.source`` of ``task.toml``: an archive, ``sdist:flask==2.2.3``.
    source: Text = ""
    sha256: Sha256 = ""
    python: Text = ""
    install: Literal["auto", "none"] | list[str] = "auto"
    image: Text = ""
    framework: Given = "pytest"
    command: Given | list[str] | None = None
    parser: Text = ""
    report: Text = ""
    rule: VerdictRule = "strict"
    timeout_seconds: Positive | None = None
    difficulty: Difficulty = "medium"
    disposition: Disposition = "positive"
    tags: Texts = Field(default_factory=list)


class CustomInstance(Record):
    """One of ``instances``."""

    instance_id: Given
    #: ``owner/project``, a git URL, or a directory that is a git repository.
    repo: Given
    base_commit: Annotated[Commit, BeforeValidator(_text)] = ""
    problem_statement: Given
    hints_text: Text = ""
    test_patch: Text = ""
    gold_patch: Text = ""
    fail_to_pass: Texts = Field(default_factory=list)
    pass_to_pass: Texts = Field(default_factory=list)
    metadata: CustomMetadata = CustomMetadata()


#: Digits of a commit's id, by SHA-1 and SHA-256.
_WHOLE = (40, 64)
_PLACES = ("bundle", "directory", "source")


def _rule_faults(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, reason) of what does not go together, whatever types it has."""
    found = value.get("metadata")
    meta: Mapping[str, Any] = found if isinstance(found, dict) else {}
    places = [name for name in _PLACES if meta.get(name)]
    if len(places) > 1:
        named = " and ".join(places)
        yield "metadata", f"has {named}; the code comes from one place"
    commit = value.get("base_commit")
    if places in ([], ["bundle"]) and not commit:
        yield "base_commit", "missing; or name metadata.directory or metadata.source"
    elif not places and isinstance(commit, str) and len(commit) not in _WHOLE:
        yield "base_commit", "must be whole where it is fetched: git rev-parse COMMIT"
    if places == ["source"] and not (commit or meta.get("sha256")):
        yield "metadata.sha256", "missing: of the archive; or a base_commit"
    for name in ("test_patch", "gold_patch"):
        if not _is_diff(value.get(name)):
            yield name, "is no diff: no line starts with 'diff --git' or '---'"
    yield from _label_faults(value, meta)
    for key in meta:
        if key not in CustomMetadata.model_fields:
            if near := did_you_mean(str(key), CustomMetadata.model_fields):
                yield f"metadata.{key}", f"unknown key{near}"


def _label_faults(
    value: Mapping[str, Any], meta: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if meta.get("disposition", "positive") == "positive":
        if not value.get("gold_patch"):
            yield "gold_patch", "missing; or say metadata.disposition: negative"
        if not value.get("fail_to_pass"):
            yield "fail_to_pass", "missing: the tests that the solution makes pass"
    elif not (value.get("fail_to_pass") or value.get("pass_to_pass")):
        yield "pass_to_pass", "missing: nothing would be judged"


def _is_diff(text: Any) -> bool:
    if not isinstance(text, str) or not text:
        return True  # said elsewhere
    return any(line.startswith(("diff --git ", "--- ")) for line in text.split("\n"))


class CustomFile:
    """A YAML file with ``dataset_name`` and ``instances``."""

    def __init__(self, path: Path) -> None:
        """Read it.

        Raises:
            DatasetError: It is missing, no YAML, or not laid out like this; all that
                is wrong above the instances is in one error.
        """
        self._name = path.name
        try:
            value = read_yaml(path)
            # Once more, for the lines.
            self._root = yaml.compose(read_text(path), Loader=_Loader)
        except DocumentError as exc:
            raise DatasetError(path.name, "", exc.reason) from exc
        faults = list(self._layout_faults(value))
        if faults:
            raise DatasetError(path.name, "", "; ".join(faults))
        self.dataset_name: str = value["dataset_name"]
        self._instances: list[Any] = value["instances"]

    def instances(self) -> Iterator[tuple[str, str, Any]]:
        """Yield (id, place, value) of each; the id of one that has none is its number.

        A value that is no usable instance is yielded as it is.
        """
        for number, value in enumerate(self._instances):
            given = value.get("instance_id") if isinstance(value, dict) else None
            name = given if isinstance(given, str) and given else f"number {number + 1}"
            yield name, f"{self._name}, line {self._line(('instances', number))}", value

    def lines(self, number: int) -> dict[str, int]:
        """Return the lines of an instance's keys, dotted below ``metadata``."""
        node = _below(self._root, ("instances", number))
        return dict(_key_lines(node, ""))

    def _layout_faults(self, value: Any) -> Iterator[str]:
        if not isinstance(value, dict):
            yield "must hold the keys dataset_name and instances"
            return
        known = ("dataset_name", "instances")
        for key in value:
            if key not in known:
                near = did_you_mean(str(key), known)
                line = self._line((key,))
                names = ", ".join(known)
                yield f"line {line}: unknown key {key!r}{near}; known: {names}"
        name = value.get("dataset_name")
        if not isinstance(name, str) or not name:
            yield "dataset_name: must be text, such as my-regressions"
        instances = value.get("instances")
        if not isinstance(instances, list) or not instances:
            yield "instances: must be a list of at least one instance"

    def _line(self, keys: tuple[str | int, ...]) -> int:
        node = _below(self._root, keys)
        return node.start_mark.line + 1 if node is not None else 1


def checked(value: Any, place: str, lines: Mapping[str, int]) -> CustomInstance:
    """Return an instance.

    Args:
        value: As it stands in the file.
        place: Where it stands.
        lines: Of its keys.

    Raises:
        DatasetError: It is none; all that is wrong with it is in one error.
    """
    if not isinstance(value, dict):
        raise DatasetError(place, "", "an instance is a mapping of keys to values")
    faults: list[tuple[str, str]] = []
    said = None
    try:
        said = CustomInstance.model_validate(value, strict=True)
    except ValidationError as exc:
        faults += map(_fault, _one_each(exc.errors()))
    known = {key for key, _ in faults}
    faults += [fault for fault in _rule_faults(value) if fault[0] not in known]
    if said is not None and not faults:
        return said
    # What stands nowhere comes last.
    faults.sort(key=lambda fault: lines.get(fault[0], sys.maxsize))
    if len(faults) == 1:
        key, reason = faults[0]
        raise DatasetError(_at(place, lines, key), key, reason)
    shown = (
        f"line {lines[key]}, {key}: {reason}" if key in lines else f"{key}: {reason}"
        for key, reason in faults
    )
    raise DatasetError(place, "", f"{len(faults)} faults: {'; '.join(shown)}")


def _at(place: str, lines: Mapping[str, int], key: str) -> str:
    """Return a place with the line of a key of it, where that is known."""
    if key not in lines:
        return place
    file, _, rest = place.rpartition(", line ")
    _, space, instance = rest.partition(" ")
    return f"{file}, line {lines[key]}{space}{instance}"


def _one_each(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """Return the first error of each key: a choice of types gives one for each."""
    found: dict[tuple[int | str, ...], ErrorDetails] = {}
    for error in errors:
        found.setdefault(_keys(error), error)
    return list(found.values())


def _keys(error: ErrorDetails) -> tuple[int | str, ...]:
    depth = 2 if error["loc"][:1] == ("metadata",) else 1
    return error["loc"][:depth]


def _fault(error: ErrorDetails) -> tuple[str, str]:
    """Return (key, reason)."""
    key = ".".join(str(part) for part in _keys(error))
    kind = error["type"]
    if kind == "missing":
        return key, "required key is missing"
    if kind == "extra_forbidden":
        near = did_you_mean(key, CustomInstance.model_fields)
        known = ", ".join(CustomInstance.model_fields)
        return key, f"unknown key{near}; known: {known}"
    if key.endswith("install"):
        return key, "must be auto, none, or a list of shell lines"
    if key.endswith("base_commit") and kind == "string_pattern_mismatch":
        return key, f"must be a commit's id, got {error['input']!r}"
    value = error["input"]
    quotes = "; put it in quotes" if _needs_quotes(kind, value) else ""
    return key, f"{error['msg']}, got {reprlib.repr(value)}{quotes}"


def _needs_quotes(kind: str, value: object) -> bool:
    """Tell whether YAML took a text for something else: ``python: 3.11``."""
    return kind == "string_type" and not isinstance(value, (list, dict, type(None)))


def _below(node: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        if isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            node = node.value[key]
        elif isinstance(node, yaml.MappingNode):
            pairs = (pair for pair in node.value if pair[0].value == str(key))
            node = next((value for _, value in pairs), None)
        else:
            return None
    return node


def _key_lines(node: Any, prefix: str) -> Iterator[tuple[str, int]]:
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        name = f"{prefix}{key.value}"
        yield name, key.start_mark.line + 1
        if name == "metadata":
            yield from _key_lines(value, "metadata.")


_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
