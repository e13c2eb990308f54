"""The format ``evalplus``: HumanEval+ and MBPP+ of EvalPlus, as files and from the hub.

Its own files (``HumanEvalPlus.jsonl.gz``, ``MbppPlus.jsonl.gz``) have inputs, and what
is expected comes from the dataset's solution while a case is judged: nothing of a row
runs while it is imported. The rows on the hub have tests instead, which need NumPy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_codegenie.datasets import humaneval
from pytest_codegenie.datasets import mbpp
from pytest_codegenie.datasets.one_file import STANDARD_LIBRARY
from pytest_codegenie.datasets.one_file import OneFileOptions
from pytest_codegenie.datasets.one_file import Problem
from pytest_codegenie.datasets.one_file import as_lines
from pytest_codegenie.datasets.one_file import code_block
from pytest_codegenie.datasets.one_file import defined_names
from pytest_codegenie.datasets.one_file import draft_of
from pytest_codegenie.datasets.one_file import entry_point_of
from pytest_codegenie.datasets.one_file import instances_of
from pytest_codegenie.datasets.one_file import parse
from pytest_codegenie.datasets.one_file import statement
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.datasets.rows import texts_of
from pytest_codegenie.datasets.rows import type_name
from pytest_codegenie.datasets.rows import value_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.models import Positive
from pytest_codegenie.task_files import Environment


_TAG = "evalplus"
_ORIGIN = {"upstream": "https://github.com/evalplus/evalplus", "licence": "Apache-2.0"}
_ID = re.compile(r"(HumanEval|Mbpp)/(\d+)")
_NUMPY = Environment(install=["pip install numpy"])


class EvalPlusOptions(OneFileOptions):
    """What the format takes; ``cpu_seconds`` holds for rows with tests."""

    #: The least that one call may take, in seconds of CPU time; more where the
    #: dataset's own solution takes more than a quarter of it.
    min_call_seconds: Positive = 4.0
    #: For all inputs of a problem together, by the clock.
    wall_seconds: Positive = 300.0


class EvalPlusDataset:
    """Rows with ``base_input`` and ``plus_input``, or with ``test``."""

    name = "evalplus"
    summary = "HumanEval+ and MBPP+: EvalPlus' JSON lines, or evalplus/mbppplus"
    options_type: type[DatasetOptions] = EvalPlusOptions

    def instances(self, source: str, options: EvalPlusOptions) -> Iterator[Instance]:
        """Yield the rows; the hub's number 2 of MBPP+ becomes ``Mbpp/2``."""
        rows = read_rows(source, split=options.split, revision=options.revision)
        yield from instances_of(rows, numbers_of="Mbpp")

    def draft(self, instance: Instance, options: EvalPlusOptions) -> CaseDraft:
        """Return the case of a row."""
        row: Row = instance.data
        if "base_input" in row.data or "plus_input" in row.data:
            problem = _with_inputs(instance, options)
        elif "test" in row.data:
            problem = _with_test(instance, options)
        else:
            raise DatasetError(
                row.place,
                "base_input",
                "missing, and 'test' too; rows of EvalPlus have the one or the other",
            )
        return draft_of(problem, wall_seconds=options.wall_seconds)


def _with_inputs(instance: Instance, options: EvalPlusOptions) -> Problem:
    row: Row = instance.data
    match = _ID.fullmatch(instance.instance_id)
    if match is None:
        raise DatasetError(
            row.place,
            "task_id",
            f"{instance.instance_id!r} is neither HumanEval/<number> nor "
            "Mbpp/<number>, which says how results are compared",
        )
    entry_point = entry_point_of(row)
    prompt = as_lines(text_of(row, "prompt"))
    solved = prompt + as_lines(text_of(row, "canonical_solution"))
    if entry_point not in defined_names(parse(row.place, "canonical_solution", solved)):
        raise DatasetError(
            row.place, "entry_point", f"{entry_point!r} is not in the solution"
        )
    inputs = {key: _inputs(row, key) for key in ("base_input", "plus_input")}
    told = f"Write the function `{entry_point}` in `solution.py`, as this says:\n"
    return Problem(
        row=row,
        instance_id=instance.instance_id,
        statement=statement(told, code_block(prompt), humaneval.RULES),
        start=prompt,
        solved=solved,
        texts={"inputs.json": json.dumps(inputs) + "\n", "reference.py": solved},
        arguments={
            "dataset": match[1].lower(),
            "entry_point": entry_point,
            "number": int(match[2]),
            "atol": _tolerance(row),
            "min_seconds": options.min_call_seconds,
            "all_seconds": options.wall_seconds,
        },
        driver="one_file_plus",
        repository="evalplus/evalplus",
        tags=(_TAG,),
        origin=_ORIGIN,
    )


def _with_test(instance: Instance, options: EvalPlusOptions) -> Problem:
    """Return the problem of a row of the hub."""
    row: Row = instance.data
    test = as_lines(text_of(row, "test"))
    needs_numpy = re.search(r"^\s*(import|from)\s+numpy\b", test, re.MULTILINE)
    shared: dict[str, Any] = {
        "test": test,
        "cpu_seconds": options.cpu_seconds,
        "repository": "evalplus/evalplus",
        "tags": (_TAG,),
        "origin": _ORIGIN,
        "environment": _NUMPY if needs_numpy else STANDARD_LIBRARY,
    }
    if "entry_point" in row.data:
        return humaneval.make_problem(instance, **shared)
    return mbpp.make_problem(instance, shown=texts_of(row, "test_list"), **shared)


def _inputs(row: Row, key: str) -> list[Any]:
    """Return a list of lists of arguments.

    Raises:
        DatasetError: It is none.
    """
    value = value_of(row, key)
    # MBPP+ has {} where there are none.
    if value in ({}, None):
        return []
    if not isinstance(value, list):
        raise DatasetError(row.place, key, f"must be a list, is {type_name(value)}")
    for number, item in enumerate(value, 1):
        if not isinstance(item, list):
            raise DatasetError(
                row.place,
                key,
                f"must be a list of lists of arguments; item {number} is "
                f"{type_name(item)}",
            )
    return value


def _tolerance(row: Row) -> float:
    value = value_of(row, "atol")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DatasetError(
            row.place, "atol", f"must be a number, is {type_name(value)}"
        )
    return float(value)
