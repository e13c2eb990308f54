"""What recording results costs, and what resuming a run does that is done already.

Appending: ``append_result`` for each of many results, against the same lines written
to a file and synced one by one. Bound: 0.3 ms of its own CPU a result.

Resuming: ``--codegenie-resume`` of a run in which every case has a verdict. It does
what ``--collect-only`` of the same bench does, and what pytest does for as many tests
that have nothing to do; the floor is both. Bound: 1.5 in wall time. Beside it stands
the ratio to ``--collect-only`` alone. ``--full`` takes 5000 cases.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import Bound
from measuring import Cost
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import make_bench
from measuring import measure
from measuring import pytest_argv
from measuring import ratios
from measuring import spread
from measuring import work_directory

from pytest_codegenie.evidence import RESULTS
from pytest_codegenie.evidence import append_result
from pytest_codegenie.evidence import load_run
from pytest_codegenie.models import CaseResult


_APPENDS = 300
_RUN_FILE = """\
workspace: host
agents:
  - name: command
    options:
      command: ["/bin/sh", "-c", "sed -i 's/a - b/a + b/' calc.py"]
"""
_TESTS = """\
import pytest


@pytest.mark.parametrize("number", range({count}))
def test_number(number):
    pass
"""
#: Writes the results of all cases of a run that was just begun.
_FILL = """\
import json, sys
from pathlib import Path
from pytest_codegenie.evidence import RESULTS, RUN, load_run

directory = Path(sys.argv[1])
(first,) = load_run(directory).results
record = json.loads((directory / RUN).read_text())
with (directory / RESULTS).open("w") as file:
    for item in record["items"]:
        case_id = item.partition("::")[2].partition("[")[0]
        digest = record["case_digests"][f"generated/{case_id}"]
        changes = {"case_id": case_id, "case_digest": digest}
        file.write(first.model_copy(update=changes).to_json() + "\\n")
"""


def main() -> int:
    """Measure; return the exit code."""
    parser = arguments(__doc__, pairs=5)
    parser.add_argument("--cases", type=int, help="default: 1000, 5000 with --full")
    options = parser.parse_args()
    count = options.cases or (5000 if options.full else 1000)
    with work_directory(options.directory) as directory:
        run = _finished_run(directory, count)
        appending = _appending(directory, run, options.pairs)
        resuming = _resuming(directory, run, count, options.pairs)
    return conclude(
        Bound("appending a result, own CPU, ms", appending, 0.3),
        Bound("resuming a finished run, wall", resuming, 1.5),
    )


def _finished_run(directory: Path, count: int) -> Path:
    """Make a bench and a run of it in which each case has a verdict; return the run."""
    make_bench(directory / "bench", count, "repairs")
    (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (directory / "run.yaml").write_text(_RUN_FILE, encoding="utf-8")
    # Begun with all cases, and stopped after the first, which fails.
    stop = "def pytest_runtest_teardown(item):\n    item.session.shouldstop = 'done'\n"
    conftest = directory / "conftest.py"
    conftest.write_text(stop, encoding="utf-8")
    measure(_session("--codegenie-run-id=run"), directory, exit_code=2)
    conftest.unlink()
    run = directory / ".codegenie/runs/run"
    subprocess.run([sys.executable, "-c", _FILL, str(run)], check=True)
    return run


def _session(*arguments_: str) -> list[str]:
    run_file = "--codegenie-run-file=run.yaml"
    return pytest_argv("-q", "--codegenie", run_file, *arguments_, "bench")


def _appending(directory: Path, run: Path, pairs: int) -> float:
    """Measure what appending a result costs beside writing and syncing its bytes."""
    (first, *_) = load_run(run).results
    results = [first.model_copy(update={"trial": n + 1}) for n in range(_APPENDS)]
    lines = [f"{result.to_json()}\n".encode() for result in results]
    ours, floor = [], []
    for number in range(pairs):
        target = directory / f"append-{number}"
        target.mkdir()
        before = _now()
        _append_all(target, results)
        between = _now()
        _write_all(target / "floor", lines)
        after = _now()
        ours.append(_between(before, between))
        floor.append(_between(between, after))
        assert (target / RESULTS).read_bytes() == (target / "floor").read_bytes()
    print(f"appending a result of {len(lines[0])} bytes, {_APPENDS} times; each, ms")
    spread("ours, wall", [wall for wall, _ in ours], 3)
    spread("floor, wall", [wall for wall, _ in floor], 3)
    print("ratio of pairs (no bound: on a tmpfs nothing is synced)")
    ratios("wall", [wall for wall, _ in ours], [wall for wall, _ in floor])
    own = [mine[1] - theirs[1] for mine, theirs in zip(ours, floor, strict=True)]
    return spread("own CPU, ms", own, 3)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _between(
    start: tuple[float, float], end: tuple[float, float]
) -> tuple[float, float]:
    """Return (wall, CPU) of one append, in ms."""
    wall, cpu = (1000 * (b - a) / _APPENDS for a, b in zip(start, end, strict=True))
    return wall, cpu


def _append_all(directory: Path, results: Sequence[CaseResult]) -> None:
    for result in results:
        append_result(directory, result)


def _write_all(path: Path, lines: Sequence[bytes]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for line in lines:
        os.write(fd, line)
        os.fsync(fd)
    os.close(fd)


def _resuming(directory: Path, run: Path, count: int, pairs: int) -> float:
    resume = _session("--codegenie-resume=run")
    collect = _session("--collect-only")
    measure(resume, directory)  # bytecode, page cache
    size = (run / "results.jsonl").stat().st_size
    tests = directory / "test_numbers.py"
    tests.write_text(_TESTS.format(count=count), encoding="utf-8")
    plain = pytest_argv("-p", "no:codegenie", "-q", str(tests))
    ours, collected, floor = [], [], []
    for _ in range(pairs):
        ours.append(measure(resume, directory))
        collected.append(measure(collect, directory))
        floor.append(_sum(collected[-1], measure(plain, directory)))
    assert (run / "results.jsonl").stat().st_size == size, "nothing was run"
    print(f"resuming a run of {count} cases that all have a verdict")
    wall, _ = compare(ours, floor)
    print("ratio of pairs to --collect-only alone (no bound)")
    ratios("wall", [a.wall for a in ours], [b.wall for b in collected])
    ratios("CPU", [a.cpu for a in ours], [b.cpu for b in collected])
    return wall


def _sum(one: Cost, other: Cost) -> Cost:
    peak = max(one.peak_mib, other.peak_mib)
    return Cost(one.wall + other.wall, one.cpu + other.cpu, peak)


if __name__ == "__main__":
    sys.exit(main())
