"""The format ``mbpp``: Google's Mostly Basic Python Problems, full and sanitized.

Upstream runs code, set-up and asserts as one program. Its prompt shows the asserts,
without which nobody could know what the function is called.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_codegenie.datasets.one_file import STANDARD_LIBRARY
from pytest_codegenie.datasets.one_file import OneFileOptions
from pytest_codegenie.datasets.one_file import Problem
from pytest_codegenie.datasets.one_file import as_lines
from pytest_codegenie.datasets.one_file import check_python
from pytest_codegenie.datasets.one_file import code_block
from pytest_codegenie.datasets.one_file import draft_of
from pytest_codegenie.datasets.one_file import instances_of
from pytest_codegenie.datasets.one_file import statement
from pytest_codegenie.datasets.one_file import wall_seconds_of
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.datasets.rows import texts_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.task_files import Environment


UPSTREAM = "https://github.com/google-research/google-research/tree/master/mbpp"
_BEGIN = "# Your solution goes here.\n"
_TOLD = "Write it into `solution.py`. These tests have to pass:\n"
_SET_UP_TOLD = "They run after this:\n"
_RULES = """\
They see all names of `solution.py`. Only the standard library is there.
"""


class MbppOptions(OneFileOptions):
    """What the format takes."""

    #: Take the asserts of ``challenge_test_list`` too, which no agent is shown.
    challenge: bool = False


class MbppDataset:
    """Rows with ``task_id, text or prompt, code, test_list`` and what runs before."""

    name = "mbpp"
    summary = (
        "MBPP, full and sanitized: JSON lines or JSON, or google-research-datasets/mbpp"
    )
    options_type: type[DatasetOptions] = MbppOptions

    def instances(self, source: str, options: MbppOptions) -> Iterator[Instance]:
        """Yield the rows; number 11 becomes ``MBPP/11``."""
        rows = read_rows(source, split=options.split, revision=options.revision)
        yield from instances_of(rows, numbers_of="MBPP")

    def draft(self, instance: Instance, options: MbppOptions) -> CaseDraft:
        """Return the case of a row."""
        row: Row = instance.data
        tests = texts_of(row, "test_list")
        if not tests:
            raise DatasetError(row.place, "test_list", "is empty: nothing to judge by")
        hidden = texts_of(row, "challenge_test_list", ()) if options.challenge else []
        problem = make_problem(
            instance,
            shown=tests,
            test=_program([*_set_up(row), *tests, *hidden]),
            cpu_seconds=options.cpu_seconds,
            repository="google-research/mbpp",
            tags=("mbpp",),
            origin={"upstream": UPSTREAM, "licence": "CC BY 4.0"},
        )
        return draft_of(problem, wall_seconds=wall_seconds_of(options.cpu_seconds))


def make_problem(
    instance: Instance,
    *,
    shown: list[str],
    test: str,
    cpu_seconds: float,
    repository: str,
    tags: tuple[str, ...],
    origin: dict[str, str],
    environment: Environment = STANDARD_LIBRARY,
) -> Problem:
    """Return the problem of a row that is like MBPP's.

    Raises:
        DatasetError: A key is missing or wrong.
    """
    row: Row = instance.data
    for number, one in enumerate(shown, 1):
        check_python(row.place, f"test_list, item {number}", one)
    imports = _program(texts_of(row, "test_imports", ()))
    told = [as_lines(_task(row)), _TOLD, code_block(_program(shown))]
    if set_up := _program(_set_up(row)):
        told += [_SET_UP_TOLD, code_block(set_up)]
    return Problem(
        row=row,
        instance_id=instance.instance_id,
        statement=statement(*told, _RULES),
        # What the tests import, a solution may take for granted.
        start=imports + _BEGIN,
        solved=imports + as_lines(text_of(row, "code")),
        texts={"upstream_test.py": test},
        arguments={
            "entry_points": [],
            "prompt": "",
            "test": "upstream_test.py",
            "call": "",
            "cpu_seconds": cpu_seconds,
        },
        repository=repository,
        tags=tags,
        origin=origin,
        environment=environment,
    )


def _task(row: Row) -> str:
    """Return what is to be done: ``text`` in the full rows, ``prompt`` elsewhere."""
    return text_of(row, "text" if "text" in row.data else "prompt")


def _set_up(row: Row) -> list[str]:
    set_up = text_of(row, "test_setup_code", "")
    return [*texts_of(row, "test_imports", ()), *([set_up] if set_up.strip() else [])]


def _program(parts: list[str]) -> str:
    return "".join(as_lines(part) for part in parts)
