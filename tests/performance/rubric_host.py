"""A score in the warm rubric host against a fresh interpreter for each score.

Ours is one process that scores many times through the host; the floor is a process
that imports the rubric and scores once. Bound: a score costs at most a tenth, in wall
time and in CPU.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from measuring import HERE
from measuring import Bound
from measuring import arguments
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import spread
from measuring import work_directory


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=7).parse_args()
    few, many = (20, 620) if options.full else (20, 220)
    with work_directory(options.directory) as directory:
        bench = make_bench(directory / "bench", 1, "repairs")
        case = bench / "generated" / "cases" / "case-00000"
        wall_ms, cpu_ms, fresh_wall_ms, fresh_cpu_ms = [], [], [], []
        for _ in range(options.pairs):
            small = measure(_argv("warm", case, few), directory)
            large = measure(_argv("warm", case, many), directory)
            fresh = measure(_argv("fresh", case, 1), directory)
            wall_ms.append((large.wall - small.wall) / (many - few) * 1000)
            cpu_ms.append((large.cpu - small.cpu) / (many - few) * 1000)
            fresh_wall_ms.append(fresh.wall * 1000)
            fresh_cpu_ms.append(fresh.cpu * 1000)
    print("a score in the warm host, start-up apart")
    spread("wall, ms", wall_ms)
    spread("CPU, ms", cpu_ms)
    print("a score in a fresh interpreter")
    spread("wall, ms", fresh_wall_ms)
    spread("CPU, ms", fresh_cpu_ms)
    print("times cheaper, pair by pair")
    wall = spread("wall", _quotients(fresh_wall_ms, wall_ms))
    cpu = spread("CPU", _quotients(fresh_cpu_ms, cpu_ms))
    return conclude(
        Bound("times cheaper, wall", wall, 10, at_least=True),
        Bound("times cheaper, CPU", cpu, 10, at_least=True),
    )


def _argv(how: str, case: Path, count: int) -> list[str]:
    return [sys.executable, str(HERE / "scores.py"), how, str(case), str(count)]


def _quotients(dear: Sequence[float], cheap: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(dear, cheap, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
