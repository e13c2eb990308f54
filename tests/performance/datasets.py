"""Collecting a dataset file of 20,000 instances: ``--codegenie --collect-only -q``.

The floor: pytest collects as many parametrized tests. Bound: 2.0 in CPU time, once the
source has been read. Reading it the first time is shown beside, per instance.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from measuring import Bound
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import measure
from measuring import pytest_argv
from measuring import show
from measuring import work_directory

from pytest_codegenie.hashing import hash_file


_TESTS = """\
import pytest


@pytest.mark.parametrize("number", range({count}))
def test_number(number):
    pass
"""
_FILE = """\
[dataset]
format = "humaneval"
source = "rows.jsonl"
digest = "{digest}"
name = "generated"
"""


def _write_rows(path: Path, count: int) -> None:
    """Write problems as HumanEval has them, of its mean size (1.3 KB)."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {
                "task_id": f"Generated/{number}",
                "entry_point": "add",
                "prompt": f'def add(a, b):\n    """{number}. {"The sum. " * 50}"""\n',
                "canonical_solution": f"    return a + b  # {number}\n" * 8,
                "test": "def check(candidate):\n"
                + f"    assert candidate({number}, 2) == {number + 2}\n" * 15,
            }
            file.write(json.dumps(row) + "\n")


def main() -> int:
    """Measure; return the exit code."""
    parser = arguments(__doc__, pairs=5)
    parser.add_argument("--instances", type=int, default=20_000)
    options = parser.parse_args()
    count = options.instances
    with work_directory(options.directory) as directory:
        rows = directory / "rows.jsonl"
        _write_rows(rows, count)
        (directory / "dataset.toml").write_text(
            _FILE.format(digest=hash_file(rows)), encoding="utf-8"
        )
        (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        tests = directory / "test_numbers.py"
        tests.write_text(_TESTS.format(count=count), encoding="utf-8")
        collect = pytest_argv("--codegenie", "--collect-only", "-q", "dataset.toml")
        plain = pytest_argv("-p", "no:codegenie", "--collect-only", "-q", str(tests))
        measure(collect, directory)  # bytecode, page cache
        shutil.rmtree(directory / ".codegenie")
        first = measure(collect, directory)
        ours, floor = [], []
        for _ in range(options.pairs):
            ours.append(measure(collect, directory))
            floor.append(measure(plain, directory))
    print(f"{count} instances")
    show("the first time, once (no bound)", [first])
    above = first.cpu - min(cost.cpu for cost in ours)
    print(f"  {'CPU an instance, ms':<24}{1000 * above / count:9.3f}")
    _, cpu = compare(ours, floor)
    return conclude(Bound("collecting a dataset file, CPU", cpu, 2.0))


if __name__ == "__main__":
    sys.exit(main())
