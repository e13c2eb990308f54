"""Cases whose agent and tests take almost no time, against a bare loop.

The loop does with git's own commands what the workspace ``host`` does (the base's
commit, add, diff, apply), starts the agent and the test, and makes and removes the same
trees. What is left is the harness's own: a line through two sizes tells start-up from
what each case costs. Bound: 10 ms of CPU a case.
With ``--full`` also 1000 and 5000 cases: time has to grow with the cases and memory
has to stay flat.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measuring import HERE
from measuring import Bound
from measuring import Cost
from measuring import arguments
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import pytest_argv
from measuring import ratios
from measuring import show
from measuring import spread
from measuring import work_directory


_SMALL, _LARGE = 20, 200
#: How far the time of a case, or the peak, may rise from 1000 to 5000 cases.
_DRIFT = 1.25

RUN_FILE = """\
agents:
  - name: command
    options:
      command: ["/bin/sh", "-c", "sed -i 's/a - b/a + b/' calc.py"]
"""


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=5).parse_args()
    with work_directory(options.directory) as directory:
        (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (directory / "run.yaml").write_text(RUN_FILE, encoding="utf-8")
        bounds = [_own_cpu(directory, options.pairs)]
        if options.full:
            bounds += _growth(directory)
    return conclude(*bounds)


def _own_cpu(directory: Path, pairs: int) -> Bound:
    """Measure what the harness itself adds to each case."""
    benches = {
        count: make_bench(directory / f"bench-{count}", count, "repairs")
        for count in (_SMALL, _LARGE)
    }
    own_ms, start_ms = [], []
    large: list[tuple[Cost, Cost]] = []
    for _ in range(pairs):
        costs = {
            count: (_ours(directory, bench), _floor(directory, bench))
            for count, bench in benches.items()
        }
        extra = {count: a.cpu - b.cpu for count, (a, b) in costs.items()}
        slope = (extra[_LARGE] - extra[_SMALL]) / (_LARGE - _SMALL)
        own_ms.append(slope * 1000)
        start_ms.append((extra[_SMALL] - slope * _SMALL) * 1000)
        large.append(costs[_LARGE])
    print(f"{_LARGE} cases")
    ours, floor = [a for a, _ in large], [b for _, b in large]
    show("ours", ours)
    show("floor", floor)
    print("ratio of pairs")
    ratios("wall", [a.wall for a in ours], [b.wall for b in floor])
    ratios("CPU", [a.cpu for a in ours], [b.cpu for b in floor])
    print("the harness's own CPU")
    spread("start-up, ms", start_ms)
    own = spread("each case, ms", own_ms)
    all_in = [(a.cpu - b.cpu) / _LARGE * 1000 for a, b in large]
    spread("start-up spread out, ms", all_in)
    return Bound("own CPU of a case, ms", own, 10)


def _growth(directory: Path) -> list[Bound]:
    """Measure whether time and memory of a case depend on how many there are."""
    costs = {}
    for count in (1000, 5000):
        bench = make_bench(directory / f"bench-{count}", count, "repairs")
        costs[count] = _ours(directory, bench)
        print(
            f"{count} cases: {costs[count].wall / count * 1000:.2f} ms wall and "
            f"{costs[count].cpu / count * 1000:.2f} ms CPU each, "
            f"peak {costs[count].peak_mib:.1f} MiB"
        )
    time_growth = costs[5000].cpu / 5000 / (costs[1000].cpu / 1000)
    # Items are pytest's, and cost memory in any run: 4000 more of them are allowed for.
    memory_growth = costs[5000].peak_mib / costs[1000].peak_mib
    return [
        Bound("CPU of a case, 5000 to 1000 cases", time_growth, _DRIFT),
        Bound("peak, 5000 to 1000 cases", memory_growth, 2),
    ]


def _ours(directory: Path, bench: Path) -> Cost:
    argv = pytest_argv(
        "-q",
        "--codegenie",
        "--codegenie-workspace=host",
        "--codegenie-cache=off",
        "--codegenie-run-file=run.yaml",
    )
    return measure([*argv, str(bench)], directory)


def _floor(directory: Path, bench: Path) -> Cost:
    cases = bench / "generated" / "cases"
    return measure([sys.executable, str(HERE / "bare_loop.py"), str(cases)], directory)


if __name__ == "__main__":
    sys.exit(main())
