"""The formats ``exercism`` and ``aider-polyglot``: exercises of exercism.org's tracks.

An exercise is a directory with ``.meta/config.json``, which names the files to write,
their tests and a solution. Its harness says that all tests have to pass, not which of
them the files fail to begin with; so they are one test here. As in Aider's benchmark,
an agent is not shown the tests.
"""

from __future__ import annotations

import ast
import json
import posixpath
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any

from pytest_codegenie.datasets.checkouts import Checkout
from pytest_codegenie.datasets.checkouts import open_checkout
from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.datasets.one_file import STANDARD_LIBRARY
from pytest_codegenie.datasets.one_file import as_lines
from pytest_codegenie.datasets.one_file import inside
from pytest_codegenie.datasets.one_file import joined
from pytest_codegenie.datasets.one_file import parse
from pytest_codegenie.datasets.one_file import statement
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.logs import emit
from pytest_codegenie.models import Positive
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


_PRACTICE = "exercises/practice"
_TEST_ID = "tests.test_exercise.TestExercise.test_all"
_DOCS = (
    "introduction.md",
    "introduction.append.md",
    "instructions.md",
    "instructions.append.md",
)
_TEST_FILE = '''\
"""Runs the tests of the exercise {slug} as one: all of them have to pass."""

import unittest

from tests import whole_files


class TestExercise(unittest.TestCase):
    def test_all(self):
        whole_files.run(self, files={files!r}, cpu_seconds={cpu_seconds!r})
'''
_RULES = """\
# How it is judged

Write your solution into {files}. Hidden tests import what the text above and the files
name: keep these names. Only the standard library is there.
"""


class ExercismOptions(DatasetOptions):
    """What the format takes."""

    #: For all tests of an exercise, in seconds of CPU time. Aider's benchmark takes 60
    #: to 180 seconds of the clock.
    cpu_seconds: Positive = 60.0


@dataclass(frozen=True, slots=True)
class Exercise:
    """Where an exercise is."""

    #: Its directory.
    checkout: Checkout
    slug: str


class ExercismDataset:
    """Practice exercises of a track."""

    name = "exercism"
    summary = "Exercism's Python track: a checkout of exercism/python"
    options_type: type[DatasetOptions] = ExercismOptions

    def instances(self, source: str, options: ExercismOptions) -> Iterator[Instance]:
        """Yield the practice exercises, by name."""
        track = open_checkout(source, _PRACTICE, what="exercism/python")
        yield from _exercises(track.root / _PRACTICE, "")

    def draft(self, instance: Instance, options: ExercismOptions) -> CaseDraft:
        """Return the case of an exercise."""
        return _draft(instance, options, "exercism/python", self.name)


class AiderPolyglotDataset:
    """The exercises of Aider's polyglot benchmark, those in Python."""

    name = "aider-polyglot"
    summary = (
        "Aider's polyglot benchmark, Python: a checkout of Aider-AI/polyglot-benchmark"
    )
    options_type: type[DatasetOptions] = ExercismOptions

    def instances(self, source: str, options: ExercismOptions) -> Iterator[Instance]:
        """Yield the exercises in Python; tell how many of other languages there are."""
        what = "Aider-AI/polyglot-benchmark"
        checkout = open_checkout(source, f"python/{_PRACTICE}", what=what)
        for language, count in _other_languages(checkout.root):
            emit(
                "dataset.skipped",
                level="warning",
                dataset=self.name,
                what=language,
                count=count,
                reason="only exercises in Python are read",
            )
        yield from _exercises(checkout.root / "python" / _PRACTICE, "python/")

    def draft(self, instance: Instance, options: ExercismOptions) -> CaseDraft:
        """Return the case of an exercise."""
        return _draft(instance, options, "Aider-AI/polyglot-benchmark", self.name)


def _other_languages(root: Path) -> Iterator[tuple[str, int]]:
    for directory in sorted(root.glob(f"*/{_PRACTICE}")):
        language = directory.relative_to(root).parts[0]
        if language != "python":
            yield language, sum(path.is_dir() for path in directory.iterdir())


def _exercises(directory: Path, prefix: str) -> Iterator[Instance]:
    slugs = sorted(path.name for path in directory.iterdir() if path.is_dir())
    if not slugs:
        raise DatasetError(Checkout(directory).place(""), "", "holds no exercise")
    for slug in slugs:
        checkout = Checkout(directory / slug)
        place = checkout.place("")
        yield Instance(f"{prefix}{slug}", place, Exercise(checkout, slug))


def _draft(
    instance: Instance, options: ExercismOptions, repository: str, tag: str
) -> CaseDraft:
    exercise: Exercise = instance.data
    checkout = exercise.checkout
    files = _named_files(checkout)
    solutions, tests = files["solution"], files["test"]
    for name in tests:
        _check_tests(checkout, name)
    start = {name: checkout.text(name) for name in _begin(checkout, files)}
    patch = "".join(
        file_diff(name, start[name], checkout.text(example))
        for name, example in zip(solutions, files["example"], strict=True)
    )
    if not patch:
        raise DatasetError(instance.place, "", "the example is what there is already")
    return CaseDraft(
        case_id=case_id_of(instance.instance_id),
        instance_id=instance.instance_id,
        task=TaskFile(
            repository=Repository(name=repository, source="repo"),
            environment=STANDARD_LIBRARY,
        ),
        tests=TestsFile(
            framework="unittest",
            fail_to_pass=[_TEST_ID],
            timeout_seconds=30 + 3 * options.cpu_seconds,
        ),
        problem=_problem(checkout, solutions),
        gold_patch=patch,
        files={
            **{
                f"input/repo/{name}": FileContent(text.encode())
                for name, text in start.items()
            },
            **dict(_hidden(exercise, tests, options.cpu_seconds)),
        },
        tags=(tag,),
        origin={"upstream": f"https://github.com/{repository}", "licence": "MIT"},
    )


def _named_files(checkout: Checkout) -> dict[str, list[str]]:
    """Return the lists ``solution``, ``test``, ``example`` and ``editor``.

    Raises:
        DatasetError: The exercise's config.json is missing or says something else.
    """
    name = ".meta/config.json"
    place = checkout.place(name)
    try:
        config: Any = json.loads(checkout.text(name, why="no exercise without it"))
    except ValueError as exc:
        raise DatasetError(place, "", f"is no JSON: {exc}") from None
    files = config.get("files") if isinstance(config, dict) else None
    if not isinstance(files, dict):
        raise DatasetError(
            place, "files", "must be an object; nothing says what is what"
        )
    found = {}
    for key in ("solution", "test", "example", "editor"):
        names = files.get(key, [])
        if not isinstance(names, list) or not all(map(_is_below, names)):
            raise DatasetError(
                place, f"files.{key}", "must be a list of paths in the exercise"
            )
        if not names and key != "editor":
            raise DatasetError(place, f"files.{key}", "is empty; the case needs one")
        found[key] = names
    if len(found["solution"]) != len(found["example"]):
        raise DatasetError(
            place,
            "files.example",
            f"has {len(found['example'])} files for {len(found['solution'])} in "
            "files.solution; which is which cannot be told",
        )
    return found


def _is_below(name: object) -> bool:
    if not isinstance(name, str) or not name.isprintable() or "\\" in name:
        return False
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _begin(checkout: Checkout, files: dict[str, list[str]]) -> list[str]:
    """Return the files that an agent gets."""
    return list(dict.fromkeys([*files["solution"], *files["editor"]]))


def _check_tests(checkout: Checkout, name: str) -> None:
    """See to it that a file holds unittests, and lies where it is looked for.

    Raises:
        DatasetError: It does not.
    """
    place = checkout.place(name)
    if posixpath.dirname(name) or not name.endswith(".py"):
        raise DatasetError(
            place, "", "is not one of Python, in the exercise's own directory"
        )
    tree = parse(place, "", checkout.text(name))
    if not any(
        isinstance(item, ast.FunctionDef) and item.name.startswith("test")
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for item in node.body
    ):
        raise DatasetError(place, "", "holds no class of unittests; others are not run")


def _problem(checkout: Checkout, solutions: Sequence[str]) -> str:
    docs = [f".docs/{name}" for name in _DOCS]
    texts = [as_lines(checkout.text(name)) for name in docs if checkout.has(name)]
    if not checkout.has(".docs/instructions.md"):
        checkout.text(".docs/instructions.md", why="nothing says what is to be done")
    return statement(*texts, _RULES.format(files=joined(solutions)))


def _hidden(
    exercise: Exercise, tests: list[str], cpu_seconds: float
) -> Iterator[tuple[str, FileContent]]:
    for name in tests:
        data = exercise.checkout.text(name).encode()
        yield f"expected/overlay/{name}", FileContent(data)
    driver = _TEST_FILE.format(slug=exercise.slug, files=tests, cpu_seconds=cpu_seconds)
    yield "expected/overlay/tests/__init__.py", FileContent(b"")
    yield "expected/overlay/tests/test_exercise.py", FileContent(driver.encode())
    for name in ("one_file.py", "whole_files.py"):
        yield f"expected/overlay/tests/{name}", inside(name)
