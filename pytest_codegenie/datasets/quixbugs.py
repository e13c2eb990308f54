"""The format ``quixbugs``: the Python programs of a checkout of QuixBugs.

QuixBugs (Lin et al. 2017) says which tests a program has, but not which of them its
bug fails. That was measured once, at the commit that ``quixbugs_labels.json`` names; a
file of one's own rows takes its place.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_codegenie.datasets.checkouts import Checkout
from pytest_codegenie.datasets.checkouts import open_checkout
from pytest_codegenie.datasets.diffs import file_diff
from pytest_codegenie.datasets.one_file import STANDARD_LIBRARY
from pytest_codegenie.datasets.one_file import inside
from pytest_codegenie.datasets.protocol import CaseDraft
from pytest_codegenie.datasets.protocol import DatasetOptions
from pytest_codegenie.datasets.protocol import FileContent
from pytest_codegenie.datasets.protocol import Instance
from pytest_codegenie.datasets.protocol import case_id_of
from pytest_codegenie.datasets.rows import Row
from pytest_codegenie.datasets.rows import read_rows
from pytest_codegenie.datasets.rows import text_of
from pytest_codegenie.datasets.rows import texts_of
from pytest_codegenie.errors import DatasetError
from pytest_codegenie.models import Positive
from pytest_codegenie.task_files import Repository
from pytest_codegenie.task_files import TaskFile
from pytest_codegenie.task_files import TestsFile


_UPSTREAM = "https://github.com/jkoppel/QuixBugs"
_LABELS = Path(__file__).with_name("quixbugs_labels.json")
_BUGGY, _CORRECT = "python_programs", "correct_python_programs"
_TESTS, _DATA = "python_testcases", "json_testcases"
#: By the clock: of all tests, and more for each one's CPU time, as there may be many
#: runs for each CPU.
_SECONDS, _MORE_SECONDS = 60.0, 3.0
_TOLD = """\
The program `{name}` in `python_programs/{name}.py` has a bug, in one line. What it has
to do stands in the text at the end of the file. Find the bug and fix it.

Hidden tests import the function from there and call it.
"""


class QuixBugsOptions(DatasetOptions):
    """What the format takes."""

    #: A file of rows with ``instance_id`` (``quixbugs-gcd``), ``FAIL_TO_PASS`` and
    #: ``PASS_TO_PASS``; None: what was measured with QuixBugs as it is.
    labels: Path | None = None
    #: Of each test, in seconds of CPU time; the labels were measured with 5 seconds.
    test_cpu_seconds: Positive = 5.0


class Labels(NamedTuple):
    """Which tests of a program fail because of its bug."""

    fail_to_pass: list[str]
    pass_to_pass: list[str]


class QuixBugsDataset:
    """Python programs with one faulty line each."""

    name = "quixbugs"
    summary = "QuixBugs, Python programs: a checkout of jkoppel/QuixBugs"
    options_type: type[DatasetOptions] = QuixBugsOptions

    def instances(self, source: str, options: QuixBugsOptions) -> Iterator[Instance]:
        """Yield the programs that have tests, by name."""
        checkout = open_checkout(source, _BUGGY, _CORRECT, _TESTS, what="QuixBugs")
        _labels(options.labels)  # what is wrong with them is said first
        names = sorted(
            path.name.removeprefix("test_").removesuffix(".py")
            for path in (checkout.root / _TESTS).glob("test_*.py")
        )
        if not names:
            raise DatasetError(checkout.place(_TESTS), "", "has no test_<program>.py")
        for name in names:
            place = checkout.place(f"{_BUGGY}/{name}.py")
            yield Instance(f"quixbugs-{name}", place, (checkout, name))

    def draft(self, instance: Instance, options: QuixBugsOptions) -> CaseDraft:
        """Return the case of a program."""
        checkout, name = instance.data
        if not name.isidentifier():
            raise DatasetError(instance.place, "", "is no name of a module")
        program, test = f"{_BUGGY}/{name}.py", f"{_TESTS}/test_{name}.py"
        labels = _labels(options.labels).get(instance.instance_id)
        if labels is None:
            raise DatasetError(
                instance.place,
                "labels",
                "nobody says which tests its bug fails; give a file with a row "
                f"{instance.instance_id!r}: --option labels=FILE",
            )
        buggy = checkout.text(program)
        correct = checkout.text(f"{_CORRECT}/{name}.py", why="it is the solution")
        patch = file_diff(program, buggy, correct)
        if not patch:
            raise DatasetError(
                instance.place, "", f"is the same in {_CORRECT}: there is no bug"
            )
        count = len(labels.fail_to_pass) + len(labels.pass_to_pass)
        return CaseDraft(
            case_id=case_id_of(instance.instance_id),
            instance_id=instance.instance_id,
            task=TaskFile(
                repository=Repository(name="jkoppel/QuixBugs", source="repo"),
                environment=STANDARD_LIBRARY,
            ),
            tests=TestsFile(
                framework="pytest",
                fail_to_pass=labels.fail_to_pass,
                pass_to_pass=labels.pass_to_pass,
                timeout_seconds=_SECONDS
                + _MORE_SECONDS * options.test_cpu_seconds * count,
            ),
            problem=_TOLD.format(name=name),
            gold_patch=patch,
            files={
                **_files(checkout, name, program, test),
                f"expected/overlay/{_TESTS}/conftest.py": _limit(options),
            },
            tags=("quixbugs", "repair"),
            origin={"upstream": _UPSTREAM, "licence": "MIT"},
        )


def _files(
    checkout: Checkout, name: str, program: str, test: str
) -> dict[str, FileContent]:
    base = ["conftest.py", *checkout.with_imports(program)]
    hidden = list(checkout.with_imports(test))
    data = f"{_DATA}/{name}.json"
    if f"{_TESTS}/load_testdata.py" in hidden or checkout.has(data):
        hidden.append(data)
    files = {f"input/repo/{file}": FileContent(checkout.data(file)) for file in base}
    return files | {
        f"expected/overlay/{file}": FileContent(checkout.data(file)) for file in hidden
    }


def _limit(options: QuixBugsOptions) -> FileContent:
    data = inside("one_test_at_a_time.py").data
    assert isinstance(data, bytes), "it is read"
    line = f"\nSECONDS = {options.test_cpu_seconds!r}\n".encode()
    return FileContent(re.sub(rb"\nSECONDS = .*\n", line, data))


@functools.lru_cache(maxsize=4)
def _labels(file: Path | None) -> dict[str, Labels]:
    """Return labels by instance id.

    Raises:
        DatasetError: The file is missing, or a row of it is wrong.
    """
    if file is None:
        table = json.loads(_LABELS.read_bytes())["programs"]
        return {
            f"quixbugs-{name}": Labels(
                *([f"{_TESTS}/test_{name}.py::{test}" for test in one] for one in both)
            )
            for name, both in table.items()
        }
    rows = read_rows(str(file))
    return {text_of(row, "instance_id"): _labels_of(row) for row in rows}


def _labels_of(row: Row) -> Labels:
    found = []
    for key in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        if isinstance(row.data.get(key), str):
            try:
                row = Row(row.place, row.data | {key: json.loads(row.data[key])})
            except ValueError:
                pass  # what it is instead of a list is said below
        found.append(texts_of(row, key))
    if not found[0]:
        raise DatasetError(row.place, "FAIL_TO_PASS", "is empty: nothing to mend")
    return Labels(*found)
