"""Collecting and verifying generated cases: ``--codegenie --collect-only -q``.

The floor is two processes: pytest collects as many parametrized tests, and a bare loop
reads and hashes the same files (five of 1 KiB a case). Bound: 2.0 in wall time.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measuring import Bound
from measuring import Cost
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import pytest_argv
from measuring import show
from measuring import work_directory


_TESTS = """\
import pytest


@pytest.mark.parametrize("number", range({count}))
def test_number(number):
    pass
"""
_BARE_PASS = """\
import os, sys
from blake3 import blake3

for top, directories, files in os.walk(sys.argv[1]):
    directories.sort()
    for name in sorted(files):
        if name != "case.toml":
            with open(f"{top}/{name}", "rb") as file:
                blake3(file.read()).digest()
"""


def main() -> int:
    """Measure; return the exit code."""
    parser = arguments(__doc__, pairs=5)
    parser.add_argument("--cases", type=int, help="default: 2000, 10000 with --full")
    options = parser.parse_args()
    count = options.cases or (10_000 if options.full else 2000)
    with work_directory(options.directory) as directory:
        bench = make_bench(directory / "bench", count, "files")
        (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        tests = directory / "test_numbers.py"
        tests.write_text(_TESTS.format(count=count), encoding="utf-8")
        collect = pytest_argv("--codegenie", "--collect-only", "-q", str(bench))
        # With --collect-only pytest-xdist starts no workers; deselecting all is alike.
        two_workers = pytest_argv("--codegenie", "-q", "-n2", "-knothing", str(bench))
        measure(collect, directory)  # bytecode, page cache
        ours, floor, spread_out = [], [], []
        for _ in range(options.pairs):
            ours.append(measure(collect, directory))
            floor.append(_floor(directory, bench, tests))
            spread_out.append(measure(two_workers, directory, exit_code=5))
    print(f"{count} cases")
    wall, _ = compare(ours, floor)
    show("ours with -n 2, in each process (no bound)", spread_out)
    return conclude(Bound("collecting and verifying, wall", wall, 2.0))


def _floor(directory: Path, bench: Path, tests: Path) -> Cost:
    plain = pytest_argv("-p", "no:codegenie", "--collect-only", "-q", str(tests))
    collecting = measure(plain, directory)
    cases = str(bench / "generated" / "cases")
    hashing = measure([sys.executable, "-c", _BARE_PASS, cases], directory)
    return Cost(
        collecting.wall + hashing.wall,
        collecting.cpu + hashing.cpu,
        max(collecting.peak_mib, hashing.peak_mib),
    )


if __name__ == "__main__":
    sys.exit(main())
