"""A case with a sparse file of 2 GiB, collected and verified, against a bare pass.

The floor reads the same file by 1 MiB and hashes it. Bounds, both above the same
collection of a small case: at most 1.5 times the floor's time, and 32 MiB of peak.
"""

from __future__ import annotations

import sys

from measuring import Bound
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import pytest_argv
from measuring import ratios
from measuring import spread
from measuring import work_directory


_BARE_PASS = """\
import sys
from blake3 import blake3

hasher = blake3()
with open(sys.argv[1], "rb", buffering=0) as file:
    while data := file.read(1 << 20):
        hasher.update(data)
"""


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=3).parse_args()
    with work_directory(options.directory) as directory:
        (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        big = make_bench(directory / "bench-big", 1, "big")
        small = make_bench(directory / "bench-small", 1, "repairs")
        collect = pytest_argv("--codegenie", "--collect-only", "-q")
        file = (
            big / "generated" / "cases" / "case-00000" / "input" / "repo" / "data.bin"
        )
        bare = [sys.executable, "-c", _BARE_PASS, str(file)]
        ours, floor, ordinary = [], [], []
        for _ in range(options.pairs * (3 if options.full else 1)):
            ours.append(measure([*collect, str(big)], directory))
            floor.append(measure(bare, directory))
            ordinary.append(measure([*collect, str(small)], directory))
    compare(ours, floor)
    print("above a small case")
    pairs = list(zip(ours, ordinary, strict=True))
    extra = [a.wall - b.wall for a, b in pairs]
    spread("wall, s", extra)
    above = spread("peak, MiB", [a.peak_mib - b.peak_mib for a, b in pairs], 1)
    wall = ratios("wall, to the floor", extra, [cost.wall for cost in floor])
    return conclude(
        Bound("verifying 2 GiB, above a small case, wall", wall, 1.5),
        Bound("peak above a small case, MiB", above, 32),
    )


if __name__ == "__main__":
    sys.exit(main())
