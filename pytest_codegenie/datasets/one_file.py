"""Cases that are one file: what HumanEval, MBPP and their kin have in common.

The case is ``solution.py``, its hidden tests are the dataset's own, run once in the
namespace that the dataset's harness gives them, and its oracle is the solution of the
dataset. ``inside/one_file.py`` runs the tests.
"""

from __future__ import annotations

import ast
import functools
import keyword
import warnings
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.models import Positive
from pytest_codegenie.task_files import Environment
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


SOLUTION = "solution.py"
#: What most problems run in.
STANDARD_LIBRARY = Environment(install="none")
#: A module, a class and a method of the hidden tests.
TEST_ID = "tests.test_solution.TestSolution.test_solution"
_TESTS = "expected/overlay/tests"
_INSIDE = Path(__file__).with_name("inside")
_TEST_FILE = '''\
"""The hidden tests of {instance_id}, as the dataset's own harness runs them."""

import unittest

from tests import {driver}


class TestSolution(unittest.TestCase):
    def test_solution(self):
        {driver}.run(
{arguments}
        )
'''


class OneFileOptions(DatasetOptions):
    """What datasets of one-file problems take."""

    #: Of a directory or the hub.
    split: str = ""
    #: Of a dataset on the hub: a commit, tag or branch.
    revision: str = ""
    #: For the tests of a problem, in seconds of CPU time, so that a busy machine
    #: changes no result. The datasets' own harnesses take 3 seconds of the clock.
    cpu_seconds: Positive = 10.0


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem."""

    row: Row
    instance_id: str
    #: What the agent is told.
    statement: str
    #: ``solution.py`` as the agent gets it.
    start: str
    #: ``solution.py`` as the dataset solves it.
    solved: str
    #: Files of the hidden tests, by name, beside the driver.
    texts: Mapping[str, str]
    #: What the driver is called with.
    arguments: Mapping[str, object]
    #: As ``owner/project``.
    repository: str
    tags: tuple[str, ...]
    origin: Mapping[str, str] = field(default_factory=dict)
    #: A script of ``inside/``; ``one_file`` is there in any case.
    driver: str = "one_file"
    environment: Environment = STANDARD_LIBRARY


def draft_of(problem: Problem, *, wall_seconds: float) -> CaseDraft:
    """Return the draft of a problem's case.

    Args:
        problem: The problem.
        wall_seconds: After which a test run is ended, however little it computed.

    Raises:
        DatasetError: A text of it is no Python.
    """
    place = problem.row.place
    check_python(place, "the solution", problem.solved)
    for name, text in problem.texts.items():
        if name.endswith(".py"):
            check_python(place, name.removesuffix(".py"), text)
    patch = file_diff(SOLUTION, problem.start, problem.solved)
    if not patch:
        raise DatasetError(
            place, "", "the solution is what there is to begin with: nothing to do"
        )
    return CaseDraft(
        case_id=case_id_of(problem.instance_id),
        instance_id=problem.instance_id,
        task=TaskFile(
            repository=Repository(name=problem.repository, source="repo"),
            environment=problem.environment,
        ),
        tests=TestsFile(
            framework="unittest", fail_to_pass=[TEST_ID], timeout_seconds=wall_seconds
        ),
        problem=problem.statement,
        gold_patch=patch,
        files={
            f"input/repo/{SOLUTION}": FileContent(problem.start.encode()),
            **{f"{_TESTS}/{name}": data for name, data in _test_files(problem)},
        },
        tags=problem.tags,
        origin=problem.origin,
    )


def _test_files(problem: Problem) -> Iterator[tuple[str, FileContent]]:
    yield "__init__.py", FileContent(b"")
    yield "test_solution.py", FileContent(_test_file(problem).encode())
    for name in sorted({"one_file", problem.driver}):
        yield f"{name}.py", inside(f"{name}.py")
    for name, text in problem.texts.items():
        yield name, FileContent(text.encode())


@functools.cache
def inside(name: str) -> FileContent:
    """Return a script that cases get a copy of."""
    return FileContent((_INSIDE / name).read_bytes())


def _test_file(problem: Problem) -> str:
    lines = [
        f"            {key}={value!r}," for key, value in problem.arguments.items()
    ]
    return _TEST_FILE.format(
        instance_id=problem.instance_id,
        driver=problem.driver,
        arguments="\n".join(lines),
    )


def wall_seconds_of(cpu_seconds: float) -> float:
    """Return when a test run is ended that waits instead of computing.

    Far more than the CPU time, as there may be many runs for each CPU.
    """
    return 30 + 6 * cpu_seconds


def instances_of(
    rows: Iterator[Row], key: str = "task_id", *, numbers_of: str = ""
) -> Iterator[Instance]:
    """Yield rows as instances, under the ids that they have.

    Args:
        rows: Of the dataset.
        key: Where the id is.
        numbers_of: Comes before an id that is a number alone: ``MBPP`` makes
            ``MBPP/11`` of 11. "": nothing.

    Raises:
        DatasetError: One has no id.
    """
    for row in rows:
        name = row.data.get(key)
        if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
            name = text_of(row, key)  # says what is there instead
            raise DatasetError(row.place, key, "is empty; give the row an id")
        instance_id = printable_id(row, str(name))
        if numbers_of and instance_id.isdecimal():
            instance_id = f"{numbers_of}/{instance_id}"
        yield Instance(instance_id, row.place, row)


def printable_id(row: Row, name: str) -> str:
    """Return an id that can stand in a file's comment and become a case's.

    Raises:
        DatasetError: It cannot.
    """
    if not name.isprintable() or '"' in name or "\\" in name or not case_id_of(name):
        raise DatasetError(row.place, "task_id", f"{name!r} cannot be a case's id")
    return name


def entry_point_of(row: Row) -> str:
    """Return the name of the function that the tests call.

    Raises:
        DatasetError: It is no name of Python's.
    """
    name = text_of(row, "entry_point")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise DatasetError(row.place, "entry_point", f"{name!r} is no function's name")
    return name


def check_python(place: str, key: str, text: str) -> None:
    """See to it that a text is Python. It is read, not run.

    Raises:
        DatasetError: It is not; the error says which line of it.
    """
    parse(place, key, text)


def parse(place: str, key: str, text: str) -> ast.Module:
    """Return a text's syntax tree.

    Raises:
        DatasetError: It is no Python; the error says which line of it.
    """
    try:
        return _tree(text)
    except SyntaxError as exc:
        reason = f"is no Python: line {exc.lineno}: {exc.msg}"
    except (ValueError, RecursionError, MemoryError) as exc:
        reason = f"is no Python that can be read: {exc or type(exc).__name__}"
    raise DatasetError(place, key, reason)


@functools.lru_cache(maxsize=4)  # a problem's texts are asked about more than once
def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def defined_names(tree: ast.Module) -> set[str]:
    """Return the functions and classes that a module defines at its top."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


def as_lines(text: str) -> str:
    """Return a text with the line ends of Python's own reader, the last one too."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if not text or text.endswith("\n") else f"{text}\n"


def code_block(text: str) -> str:
    """Return Markdown that shows code, whatever is in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}python\n{as_lines(text)}{fence}\n"


def statement(*paragraphs: str) -> str:
    """Return what an agent is told, as one text."""
    return "\n".join(
        part if part.endswith("\n") else f"{part}\n" for part in paragraphs
    )


def joined(names: Sequence[str]) -> str:
    """Return names for a sentence."""
    return ", ".join(f"`{name}`" for name in names)
