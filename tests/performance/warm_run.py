"""A run whose cases are all in the cache, against collecting the same bench.

Each pair is a warm run, ``--codegenie -q`` of as many cases as are in the cache, and
``--codegenie --collect-only -q`` of the same bench, each in a process of its own. What
a case costs beyond being collected is a look-up, its result on the disk, its artifacts
and pytest's own work on a passing item. Two more floors say what of that is not ours to
save: pytest runs as many empty tests, and a bare loop writes and syncs as many results.
Bound: 8 ms of CPU above bare collection for each case.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from measuring import Bound
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import pytest_argv
from measuring import show
from measuring import spread
from measuring import work_directory


_TESTS = """\
import pytest


@pytest.mark.parametrize("number", range({count}))
def test_number(number):
    pass
"""
#: Gives each case its own answer, without a gold patch in any of them.
_PREDICTION = (
    '{{"instance_id": "case-{number:05d}", "model_name_or_path": "none", '
    '"model_patch": "{patch}"}}\n'
)
_PATCH = (
    "diff --git a/calc.py b/calc.py\\n--- a/calc.py\\n+++ b/calc.py\\n"
    "@@ -1,2 +1,2 @@\\n def add(a, b):\\n-    return a - b\\n+    return a + b\\n"
)
_RUN_FILE = """\
agents:
  - name: predictions
    options: {path: preds.jsonl}
workspace: host
"""
_WRITES = """\
import os, sys

line = b"x" * 2500 + b"\\n"
with open(sys.argv[1], "wb", buffering=0) as file:
    for _ in range(int(sys.argv[2])):
        file.write(line)
        os.fsync(file.fileno())
"""


def main() -> int:
    """Measure; return the exit code."""
    parser = arguments(__doc__, pairs=5)
    parser.add_argument("--cases", type=int, default=500, help="default: 500")
    options = parser.parse_args()
    count = options.cases
    with work_directory(options.directory) as directory:
        bench = make_bench(directory / "bench", count, "repairs")
        _prepare(directory, count)
        run = pytest_argv(
            "--codegenie", "-q", "--codegenie-run-file=run.yaml", str(bench)
        )
        collect = [*run, "--collect-only"]
        tests = pytest_argv("-p", "no:codegenie", "-q", "test_numbers.py")
        writes = [sys.executable, "-c", _WRITES, "written", str(count)]
        cold = measure(run, directory)
        ours, floor, empty, synced = [], [], [], []
        for _ in range(options.pairs):
            ours.append(measure(run, directory))
            floor.append(measure(collect, directory))
            empty.append(measure(tests, directory))
            synced.append(measure(writes, directory))
        _check(directory, count)
    print(f"{count} cases, all in the cache")
    compare(ours, floor)
    show("pytest with as many empty tests (no bound)", empty)
    show("as many results written and synced (no bound)", synced)
    show("the cold run, once", [cold])
    print("a case above bare collection")
    pairs = list(zip(ours, floor, strict=True))
    spread("wall, ms", [(a.wall - b.wall) / count * 1000 for a, b in pairs])
    own = spread("CPU, ms", [(a.cpu - b.cpu) / count * 1000 for a, b in pairs])
    return conclude(Bound("CPU of a cached case above its collection, ms", own, 8))


def _prepare(directory: Path, count: int) -> None:
    predictions = "".join(
        _PREDICTION.format(number=number, patch=_PATCH) for number in range(count)
    )
    for name, text in {
        "pytest.ini": "[pytest]\n",
        "run.yaml": _RUN_FILE,
        "preds.jsonl": predictions,
        "test_numbers.py": _TESTS.format(count=count),
    }.items():
        (directory / name).write_text(text, encoding="utf-8")


def _check(directory: Path, count: int) -> None:
    """See to it that what was measured is what was meant.

    Raises:
        SystemExit: A run was not warm.
    """
    runs = directory / ".codegenie" / "runs"
    last = max(runs.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    results = (last / "results.jsonl").read_text(encoding="utf-8")
    hits = results.count('"provenance":"verdict-cache"')
    if hits != count:
        raise SystemExit(f"{hits} of {count} cases came from the cache")
    shutil.rmtree(runs)


if __name__ == "__main__":
    sys.exit(main())
