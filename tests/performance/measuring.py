"""What the benchmarks share: whole processes in turns, and how their costs compare.

Seconds of different runs say nothing; the ratio of two processes that ran one after
the other does. So each benchmark runs ours and its floor in turns, and its bound is
on the median over the pairs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process cost, with all that it started and waited for."""

    wall: float
    #: Seconds of all CPUs, user and system.
    cpu: float
    #: Resident memory of the largest single process.
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Bound:
    """What a benchmark promises: ``value`` is at most, or at least, ``limit``."""

    what: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Tell whether it does."""
        if self.at_least:
            return self.value >= self.limit
        return self.value <= self.limit


def arguments(description: str | None, *, pairs: int) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--pairs", type=int, default=pairs, help=f"how many pairs (default: {pairs})"
    )
    parser.add_argument("--full", action="store_true", help="the large sizes too")
    parser.add_argument(
        "--directory",
        type=Path,
        help="where to work (default: the system's temporary directory)",
    )
    return parser


@contextlib.contextmanager
def work_directory(parent: Path | None) -> Iterator[Path]:
    """Make a directory for the block; temporary files of all processes go there.

    So does bytecode: what is installed has it, whether or not the checkout does.
    """
    with tempfile.TemporaryDirectory(dir=parent, prefix="performance-") as name:
        directory = Path(name).resolve()
        temporary = directory / "tmp"
        temporary.mkdir()
        os.environ["TMPDIR"] = str(temporary)
        os.environ["PYTHONPYCACHEPREFIX"] = str(directory / "bytecode")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        yield directory


def make_bench(root: Path, cases: int, kind: str) -> Path:
    """Make a signed bench in a process of its own, so that this one stays small."""
    argv = [sys.executable, str(HERE / "benches.py"), str(root), str(cases), kind]
    subprocess.run(argv, check=True)
    return root


def pytest_argv(*arguments_: str) -> list[str]:
    """Return the command line of a pytest with no plugins but ours and its needs."""
    others = ("no:cacheprovider", "no:hypothesispytest")
    options = [word for name in others for word in ("-p", name)]
    return [sys.executable, "-m", "pytest", *options, *arguments_]


def measure(argv: Sequence[str], cwd: Path, *, exit_code: int = 0) -> Cost:
    """Run a process to its end and return what it cost.

    Raises:
        SystemExit: It ended otherwise; what it printed is shown.
    """
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(argv, cwd=cwd, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != exit_code:
            output.seek(0)
            sys.stdout.write(output.read().decode(errors="replace")[-4000:])
            raise SystemExit(f"exit code {process.returncode}: {' '.join(argv)}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ratios(name: str, ours: Sequence[float], floor: Sequence[float]) -> float:
    """Print the ratios of pairs; return their median."""
    pairs = [a / b for a, b in zip(ours, floor, strict=True)]
    print(f"  {name:<24}{_spread(pairs, 3)}  {len(pairs)} pairs")
    return statistics.median(pairs)


def show(name: str, costs: Sequence[Cost]) -> None:
    """Print what one side cost: wall and CPU in seconds, memory in MiB."""
    print(f"{name}")
    print(f"  {'wall, s':<24}{_spread([cost.wall for cost in costs], 3)}")
    print(f"  {'CPU, s':<24}{_spread([cost.cpu for cost in costs], 3)}")
    print(f"  {'peak, MiB':<24}{_spread([cost.peak_mib for cost in costs], 1)}")


def compare(ours: Sequence[Cost], floor: Sequence[Cost]) -> tuple[float, float]:
    """Print both sides and the ratios of pairs; return the medians: (wall, CPU)."""
    show("ours", ours)
    show("floor", floor)
    print("ratio of pairs")
    return (
        ratios("wall", [c.wall for c in ours], [c.wall for c in floor]),
        ratios("CPU", [c.cpu for c in ours], [c.cpu for c in floor]),
    )


def spread(name: str, values: Sequence[float], digits: int = 2) -> float:
    """Print values as median, min and max; return the median."""
    print(f"  {name:<24}{_spread(values, digits)}")
    return statistics.median(values)


def conclude(*bounds: Bound) -> int:
    """Print whether the bounds hold; return the exit code."""
    for bound in bounds:
        word = "at least" if bound.at_least else "at most"
        verdict = "holds" if bound.holds else "EXCEEDED"
        print(f"{bound.what}: {bound.value:.3f}, {word} {bound.limit:g}: {verdict}")
    return 0 if all(bound.holds for bound in bounds) else 1


def _spread(values: Sequence[float], digits: int) -> str:
    median, low, high = statistics.median(values), min(values), max(values)
    return f"{median:9.{digits}f}  ({low:.{digits}f} to {high:.{digits}f})"
