"""The whole of HumanEval with the oracle on two workers, against a bare loop.

The loop starts one interpreter for each problem, two at a time, which runs the problem
as HumanEval's own harness does. All problems have to pass in both; with ``--full`` all
empty ones have to fail too, and HumanEvalPack is run: mended all pass, buggy all fail.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from measuring import HERE
from measuring import Bound
from measuring import Cost
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import measure
from measuring import pytest_argv
from measuring import spread
from measuring import work_directory


_DATA = HERE.parent / "data" / "datasets"
_ROWS = _DATA / "humaneval" / "HumanEval.jsonl.gz"
_PACK = _DATA / "humanevalpack" / "humanevalpack-python.jsonl.gz"
_PROBLEMS = 164


def main() -> int:
    """Measure; return the exit code."""
    parser = arguments(__doc__, pairs=3)
    parser.add_argument("--workspace", default="host", help="default: host")
    options = parser.parse_args()
    with work_directory(options.directory) as directory:
        (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        bench = _import(directory, "humaneval", _ROWS)
        ours, floor = [], []
        for _ in range(options.pairs):
            ours.append(_run(directory, bench, "oracle", options.workspace))
            floor.append(
                measure(
                    [sys.executable, str(HERE / "bare_problems.py"), str(_ROWS)],
                    directory,
                )
            )
        _, cpu = compare(ours, floor)
        extra = [
            (a.cpu - b.cpu) / _PROBLEMS * 1000 for a, b in zip(ours, floor, strict=True)
        ]
        spread("more CPU a problem, ms", extra)
        if options.full:
            _check_all(directory, bench, options.workspace)
    return conclude(Bound("CPU time, ours to the loop", cpu, 8))


def _check_all(directory: Path, bench: Path, workspace: str) -> None:
    """Run what has to fail, and the repairs.

    Raises:
        SystemExit: A case does not come out as it has to.
    """
    pack = _import(directory, "humanevalpack", _PACK)
    for cases, agent in ((bench, "nop"), (pack, "oracle"), (pack, "nop")):
        _run(directory, cases, agent, workspace)
        print(f"{cases.name}, {agent}: as it has to be, {_PROBLEMS} cases")


def _import(directory: Path, name: str, source: Path) -> Path:
    bench = directory / name / name
    argv = ["codegenie", "import", name, str(source), "--into", str(bench)]
    argv[:1] = [sys.executable, "-m", "pytest_codegenie.cli"]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return bench.parent


def _run(directory: Path, bench: Path, agent: str, workspace: str) -> Cost:
    """Run all problems; each has to pass for the oracle, and to fail for others.

    Raises:
        SystemExit: One does not.
    """
    log = directory / "junit.xml"
    argv = pytest_argv(
        *("-q", "-n", "2", "--codegenie", "--codegenie-cache=off"),
        *(f"--codegenie-workspace={workspace}", f"--codegenie-agent={agent}"),
        *("-o", "junit_logging=no", f"--junitxml={log}", str(bench)),
    )
    cost = measure(argv, directory, exit_code=0 if agent == "oracle" else 1)
    suite = re.search(r"<testsuite [^>]*>", log.read_text(encoding="utf-8"))
    counts = dict(re.findall(r'(\w+)="(\d+)"', suite[0] if suite else ""))
    failures = 0 if agent == "oracle" else _PROBLEMS
    wanted = {"tests": _PROBLEMS, "failures": failures, "errors": 0, "skipped": 0}
    if any(int(counts[key]) != value for key, value in wanted.items()):
        raise SystemExit(f"{bench.name}, {agent}: {counts}, expected {wanted}")
    return cost


if __name__ == "__main__":
    sys.exit(main())
