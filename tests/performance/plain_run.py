"""Plain pytest in a project without cases: with the plugin against ``-p no:codegenie``.

Bound: 1.02 in wall time, the median over the pairs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measuring import Bound
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import measure
from measuring import pytest_argv
from measuring import work_directory


_TEST_FILE = """\
import pytest


@pytest.fixture
def number():
    return 2


@pytest.mark.parametrize("other", range(20))
def test_sum(number, other):
    assert number + other - other == number
"""


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=60).parse_args()
    pairs = options.pairs * (5 if options.full else 1)
    with work_directory(options.directory) as directory:
        project = _make_project(directory / "project")
        argv = pytest_argv("-q")
        without = [*argv, "-p", "no:codegenie"]
        measure(argv, project)  # the bytecode of the tests is written by this one
        ours, floor = [], []
        for _ in range(pairs):
            ours.append(measure(argv, project))
            floor.append(measure(without, project))
    wall, _ = compare(ours, floor)
    return conclude(Bound("plain pytest, wall", wall, 1.02))


def _make_project(directory: Path) -> Path:
    directory.mkdir()
    (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for number in range(10):
        name = f"test_sums_{number}.py"
        (directory / name).write_text(_TEST_FILE, encoding="utf-8")
    return directory


if __name__ == "__main__":
    sys.exit(main())
