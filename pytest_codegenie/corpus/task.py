"""A case's task: ``input/task.toml``, ``problem.md`` and what ``expected/`` holds."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from pytest_codegenie.documents import DocumentError
from pytest_codegenie.documents import read_text
from pytest_codegenie.documents import read_toml
from pytest_codegenie.errors import BenchCaseLoadError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import BenchCase
from pytest_codegenie.models import EvalInstance
from pytest_codegenie.models import Record
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


@dataclass(frozen=True, slots=True)
class CaseTask:
    """All that a harness needs to know of a case's task."""

    instance: EvalInstance
    task: TaskFile
    tests: TestsFile
    #: Files laid over the tree before judging; None where there are none.
    overlay: Path | None
    #: ``expected/tests``: tests that stay out of the tree; None where there are none.
    outside: Path | None = None
    #: ``expected/solution``: what the oracle's program is; None where there is none.
    solution: Path | None = None


_File = TypeVar("_File", bound=Record)
#: Framework to the keys of ``tests.toml`` that have no default with it.
_REQUIRED = {
    "command": ("command",),
    "junit": ("command",),
    "log": ("command", "parser"),
    "tap": ("command",),
}


def read_task(case: BenchCase) -> CaseTask:
    """Read the task of a case.

    Raises:
        BenchCaseLoadError: A file is missing or wrong; the error names file and key.
    """
    task = _read(case, "input/task.toml", TaskFile)
    tests = _read(case, "expected/tests.toml", TestsFile)
    _check_tests(case, tests)
    overlay = case.expected_dir / "overlay"
    instance = EvalInstance(
        instance_id=case.case_id,
        repo=task.repository.name,
        base_commit=task.repository.base_commit,
        problem_statement=_text(case, "input/problem.md"),
        hints_text=_text(case, "input/hints.md", optional=True),
        test_patch=_text(case, "expected/test.patch", optional=True),
        gold_patch=_text(case, "expected/gold.patch", optional=True),
        fail_to_pass=tuple(tests.fail_to_pass),
        pass_to_pass=tuple(tests.pass_to_pass),
        metadata={"framework": tests.framework},
    )
    return CaseTask(
        instance,
        task,
        tests,
        overlay if overlay.is_dir() else None,
        _directory(case, "expected/tests"),
        _directory(case, "expected/solution") if tests.solution else None,
    )


def _directory(case: BenchCase, name: str) -> Path | None:
    directory = case.directory / name
    return directory if directory.is_dir() else None


def _check_tests(case: BenchCase, tests: TestsFile) -> None:
    """See to it that a framework has the keys that it cannot do without.

    Raises:
        BenchCaseLoadError: One is missing.
    """
    for key in _REQUIRED.get(tests.framework, ()):
        if not getattr(tests, key):
            raise BenchCaseLoadError(
                case.directory,
                "expected/tests.toml",
                f"{key} is required with framework = {tests.framework!r}",
            )


def _read(case: BenchCase, name: str, model: type[_File]) -> _File:
    try:
        table = read_toml(case.directory / name)
    except DocumentError as exc:
        raise BenchCaseLoadError(case.directory, name, exc.reason) from exc
    try:
        return model.model_validate(table, strict=True)
    except ValidationError as exc:
        raise BenchCaseLoadError(case.directory, name, _reason(exc, model)) from None


def _reason(exc: ValidationError, model: type[Record]) -> str:
    error = exc.errors()[0]
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        known = _fields(model, error["loc"][:-1])
        return f"{key}: unknown key{did_you_mean(str(error['loc'][-1]), known)}"
    if error["type"] == "missing":
        return f"{key}: required key is missing"
    return f"{key}: {error['msg']}, got {reprlib.repr(error['input'])}"


def _fields(model: type[Record], table: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the keys that a table of a file may have."""
    for part in table:
        model = model.model_fields[str(part)].annotation  # type: ignore[assignment]
    return tuple(model.model_fields)


def _text(case: BenchCase, name: str, *, optional: bool = False) -> str:
    path = case.directory / name
    if optional and not path.exists():
        return ""
    try:
        return read_text(path)
    except DocumentError as exc:
        raise BenchCaseLoadError(case.directory, name, exc.reason) from exc
