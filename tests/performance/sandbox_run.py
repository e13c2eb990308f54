"""50 cases on two workers in the workspace ``sandbox``, against ``host``.

The agent is a line of shell. The cases are judged by pytest, as cases are: bound 1.15
in wall time. Judged by another line of shell, they do no work at all: what they show is
the dearest that a sandbox can be, and has no bound.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cases import RUN_FILE
from measuring import Bound
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import pytest_argv
from measuring import spread
from measuring import work_directory


_CASES = 50


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=10).parse_args()
    cases = _CASES * (10 if options.full else 1)
    with work_directory(options.directory) as directory:
        (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (directory / "run.yaml").write_text(RUN_FILE, encoding="utf-8")
        ratios = {
            kind: _compare(directory, kind, cases, options.pairs)
            for kind in ("repairs", "tested")
        }
    return conclude(Bound("sandbox to host, wall", ratios["tested"], 1.15))


def _compare(directory: Path, kind: str, cases: int, pairs: int) -> float:
    """Run a bench of a kind in both workspaces; return the ratio of wall times."""
    bench = make_bench(directory / kind, cases, kind)
    argv = {
        name: pytest_argv(
            "-q",
            "-n2",
            "--codegenie",
            f"--codegenie-workspace={name}",
            "--codegenie-cache=off",
            "--codegenie-run-file=run.yaml",
            str(bench),
        )
        for name in ("sandbox", "host")
    }
    measure(argv["host"], directory)  # bytecode, page cache
    ours, floor = [], []
    for _ in range(pairs):
        ours.append(measure(argv["sandbox"], directory))
        floor.append(measure(argv["host"], directory))
    print(f"\n{cases} cases of the kind {kind}, sandbox against host")
    wall, _ = compare(ours, floor)
    both = list(zip(ours, floor, strict=True))
    print("what the sandbox adds to each case")
    spread("wall, ms", [(a.wall - b.wall) / cases * 1000 for a, b in both])
    spread("CPU, ms", [(a.cpu - b.cpu) / cases * 1000 for a, b in both])
    return wall


if __name__ == "__main__":
    sys.exit(main())
