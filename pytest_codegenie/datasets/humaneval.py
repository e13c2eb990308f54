"""The format ``humaneval``: problems of OpenAI's HumanEval and of its look-alikes.

Upstream (``human_eval/execution.py``) runs prompt, completion, tests and
``check(entry_point)`` as one program.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from pytest_codegenie.datasets.one_file import wall_seconds_of
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.task_files import Environment


UPSTREAM = "https://github.com/openai/human-eval"
_TOLD = """\
Complete the function `{entry_point}` in `solution.py`. Its docstring says what it has
to do.
"""
RULES = """\
Hidden tests import it from there and call it: keep its name and its parameters. Only
the standard library is there.
"""


class HumanEvalDataset:
    """Rows with ``task_id, prompt, entry_point, canonical_solution, test``."""

    name = "humaneval"
    summary = "HumanEval: JSON lines, gzip too, or openai/openai_humaneval"
    options_type: type[DatasetOptions] = OneFileOptions

    def instances(self, source: str, options: OneFileOptions) -> Iterator[Instance]:
        """Yield the rows."""
        yield from instances_of(
            read_rows(source, split=options.split, revision=options.revision)
        )

    def draft(self, instance: Instance, options: OneFileOptions) -> CaseDraft:
        """Return the case of a row."""
        row: Row = instance.data
        return draft_of(
            make_problem(
                instance,
                test=as_lines(text_of(row, "test")),
                cpu_seconds=options.cpu_seconds,
                repository="openai/human-eval",
                tags=("humaneval",),
                origin={"upstream": UPSTREAM, "licence": "MIT"},
            ),
            wall_seconds=wall_seconds_of(options.cpu_seconds),
        )


def make_problem(
    instance: Instance,
    *,
    test: str,
    cpu_seconds: float,
    repository: str,
    tags: tuple[str, ...],
    origin: dict[str, str],
    environment: Environment = STANDARD_LIBRARY,
) -> Problem:
    """Return the problem of a row that is like HumanEval's.

    Raises:
        DatasetError: A key is missing or wrong.
    """
    row: Row = instance.data
    entry_point = entry_point_of(row)
    prompt = as_lines(text_of(row, "prompt"))
    if "check" not in defined_names(parse(row.place, "test", test)):
        raise DatasetError(
            row.place, "test", "defines no function check(candidate), which is called"
        )
    begun = begun_names(row, prompt, entry_point)
    solved = prompt + as_lines(text_of(row, "canonical_solution"))
    return Problem(
        row=row,
        instance_id=instance.instance_id,
        statement=statement(
            _TOLD.format(entry_point=entry_point), code_block(prompt), RULES
        ),
        start=prompt,
        solved=solved,
        texts={"upstream_prompt.py": prompt, "upstream_test.py": test},
        arguments={
            "entry_points": [entry_point],
            "prompt": "upstream_prompt.py" if begun else "",
            "test": "upstream_test.py",
            "call": f"check({entry_point})",
            "cpu_seconds": cpu_seconds,
        },
        repository=repository,
        tags=tags,
        origin=origin,
        environment=environment,
    )


def begun_names(row: Row, prompt: str, entry_point: str) -> set[str]:
    """Return what a prompt defines.

    Raises:
        DatasetError: It does not define the function.
    """
    names = defined_names(parse(row.place, "prompt", prompt))
    if entry_point not in names:
        raise DatasetError(
            row.place,
            "entry_point",
            f"{entry_point!r} is not in the prompt, which defines: "
            f"{', '.join(sorted(names)) or 'nothing'}",
        )
    return names
