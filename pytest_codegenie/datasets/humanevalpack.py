"""The format ``humanevalpack``: the repairs of BigCode's HumanEvalPack, in Python.

HumanEvalPack (OctoPack, Muennighoff 2023) has a buggy solution for each problem of
HumanEval. Its harness runs declaration, solution and tests as one program; the tests
call themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pytest_codegenie.datasets.humaneval import RULES
from pytest_codegenie.datasets.humaneval import begun_names
from pytest_codegenie.datasets.one_file import OneFileOptions
from pytest_codegenie.datasets.one_file import Problem
from pytest_codegenie.datasets.one_file import as_lines
from pytest_codegenie.datasets.one_file import code_block
from pytest_codegenie.datasets.one_file import draft_of
from pytest_codegenie.datasets.one_file import entry_point_of
from pytest_codegenie.datasets.one_file import instances_of
from pytest_codegenie.datasets.one_file import statement
from pytest_codegenie.datasets.one_file import wall_seconds_of
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.errors import DatasetError


_TOLD = "The function `{entry_point}` in `solution.py` has a bug. Find and fix it.\n"
_TESTS_TOLD = "These tests fail on it and have to pass:\n"


class HumanEvalPackOptions(OneFileOptions):
    """What the format takes."""

    #: What says how the function has to be: ``docs``, its docstring (HumanEvalFixDocs),
    #: or ``tests``, the tests themselves (HumanEvalFixTests, without a docstring).
    told: Literal["docs", "tests"] = "docs"


class HumanEvalPackDataset:
    """Rows with ``prompt, declaration, buggy_solution, canonical_solution, test``."""

    name = "humanevalpack"
    summary = (
        "HumanEvalPack, Python repairs: JSON lines, or bigcode/humanevalpack:python"
    )
    options_type: type[DatasetOptions] = HumanEvalPackOptions

    def instances(
        self, source: str, options: HumanEvalPackOptions
    ) -> Iterator[Instance]:
        """Yield the rows."""
        yield from instances_of(
            read_rows(source, split=options.split, revision=options.revision)
        )

    def draft(self, instance: Instance, options: HumanEvalPackOptions) -> CaseDraft:
        """Return the case of a row."""
        row: Row = instance.data
        _check_language(instance)
        entry_point = entry_point_of(row)
        prompt, test = (as_lines(text_of(row, key)) for key in ("prompt", "test"))
        begun_names(row, prompt, entry_point)
        tells_tests = options.told == "tests"
        head = as_lines(text_of(row, "declaration")) if tells_tests else prompt
        told = _TOLD.format(entry_point=entry_point)
        shown = (_TESTS_TOLD, code_block(test)) if tells_tests else (RULES,)
        start = head + as_lines(text_of(row, "buggy_solution"))
        problem = Problem(
            row=row,
            instance_id=instance.instance_id,
            statement=statement(told, code_block(start), *shown),
            start=start,
            solved=head + as_lines(text_of(row, "canonical_solution")),
            texts={"upstream_prompt.py": prompt, "upstream_test.py": test},
            arguments={
                "entry_points": [entry_point],
                "prompt": "upstream_prompt.py",
                "test": "upstream_test.py",
                "call": "",
                "cpu_seconds": options.cpu_seconds,
            },
            repository="bigcode/humanevalpack",
            tags=("humanevalpack", "repair"),
            origin={
                "upstream": "https://huggingface.co/datasets/bigcode/humanevalpack",
                "licence": "MIT",
            },
        )
        return draft_of(problem, wall_seconds=wall_seconds_of(options.cpu_seconds))


def _check_language(instance: Instance) -> None:
    """See to it that a row is Python.

    Raises:
        DatasetError: It is another language's, as most of HumanEvalPack.
    """
    language = instance.instance_id.partition("/")[0]
    if language in {"CPP", "Go", "Java", "JavaScript", "Rust"}:
        raise DatasetError(
            instance.place,
            "task_id",
            f"is of {language}; only the Python part of HumanEvalPack is read "
            "(bigcode/humanevalpack:python, or --select 'Python/*')",
        )
