"""Importing 500 SWE-bench rows, and memory while a file of 1 GB is imported.

The floor of the first parses the same rows with ``json`` and writes the same files,
which it has as JSON in memory: what no importer could leave out, but for nothing of
its own. It hashes nothing and checks nothing. The rows are the nine real ones of
``tests/data``, under other ids.

For memory, rows of 1 MiB each are imported: a choice of one, of a file of 64 MiB (1 GiB
with ``--full``) that has to be read to its end, as JSON lines and as an array; and all
of them. What counts is the peak above the import of one small row.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from measuring import Bound
from measuring import arguments
from measuring import compare
from measuring import conclude
from measuring import measure
from measuring import spread
from measuring import work_directory


ROWS = 500
REAL = Path(__file__).parents[1] / "data/datasets/swebench-from-sdists/rows.jsonl"
_MIB = 1 << 20

_FLOOR = """\
import json, os, sys
rows, files, target = sys.argv[1:]
with open(rows, encoding="utf-8") as stream:
    for line in stream:
        json.loads(line)
with open(files, encoding="utf-8") as stream:
    for line in stream:
        path, text = json.loads(line)
        path = os.path.join(target, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
"""


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=3).parse_args()
    with work_directory(options.directory) as directory:
        bounds = [measure_rows(directory, options.pairs)]
        bounds += measure_memory(directory, 1024 if options.full else 64)
    return conclude(*bounds)


def measure_rows(directory: Path, pairs: int) -> Bound:
    """Import 500 rows and write the same files, in turns."""
    rows = directory / "rows.jsonl"
    write_rows(rows, ROWS, padding=0)
    reference = directory / "bench-0" / "rows"
    measure(import_argv(rows, reference, jobs=1), directory)
    files = directory / "files.jsonl"
    write_listing(files, reference / "cases")
    for jobs in (1, 2):
        print(f"{ROWS} rows, --jobs {jobs}")
        ours, floor = [], []
        for number in range(1, pairs + 1):
            place = directory / f"bench-{jobs}-{number}"
            ours.append(measure(import_argv(rows, place / "rows", jobs), directory))
            argv = [sys.executable, "-c", _FLOOR, str(rows), str(files)]
            floor.append(measure([*argv, str(place / "floor")], directory))
        _, cpu = compare(ours, floor)
        if jobs == 1:
            bound = Bound(f"importing {ROWS} rows, CPU", cpu, 10)
    print("importing them again, where all of them are there")
    again = [
        measure(import_argv(rows, reference, jobs=1), directory) for _ in range(pairs)
    ]
    spread("CPU, s", [cost.cpu for cost in again])
    return bound


def measure_memory(directory: Path, mebibytes: int) -> list[Bound]:
    """Import files of large rows; compare with the import of a small one."""
    small = directory / "small.jsonl"
    write_rows(small, 1, padding=0)
    least = measure(import_argv(small, directory / "least" / "rows", 2), directory)
    lines, array = directory / "large.jsonl", directory / "large.json"
    write_rows(lines, mebibytes, padding=_MIB)
    with lines.open("rb") as source, array.open("wb") as target:
        for number, line in enumerate(source):
            target.write((b"," if number else b"[") + line.rstrip(b"\n"))
        target.write(b"]\n")
    size = lines.stat().st_size >> 20
    bounds = []
    for what, rows, more in (
        ("one of JSON lines", lines, ["--select", f"*-{mebibytes - 1}"]),
        ("one of a JSON array", array, ["--select", f"*-{mebibytes - 1}"]),
        ("all", lines, []),
    ):
        into = directory / what.replace(" ", "-").lower() / "rows"
        cost = measure([*import_argv(rows, into, 2), *more], directory)
        above = cost.peak_mib - least.peak_mib
        print(
            f"{size} MiB, {what}: {cost.wall:.1f} s, {cost.cpu:.1f} s of CPU, peak "
            f"{cost.peak_mib:.0f} MiB"
        )
        bounds.append(Bound(f"{size} MiB, {what}: peak above a small one", above, 128))
    return bounds


def import_argv(rows: Path, into: Path, jobs: int) -> list[str]:
    """Return the command line of an import."""
    command = [sys.executable, "-m", "pytest_codegenie.cli", "import", "swebench"]
    return [*command, str(rows), "--into", str(into), "--jobs", str(jobs)]


def write_rows(path: Path, count: int, *, padding: int) -> None:
    """Write so many rows, the real ones again and again.

    Args:
        path: The file.
        count: How many.
        padding: Characters of hints more than a row has.
    """
    real = [json.loads(line) for line in REAL.read_text(encoding="utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = real[number % len(real)]
            more = {
                "instance_id": f"{row['instance_id']}-{number}",
                "hints_text": row["hints_text"] + "x" * padding,
            }
            file.write(json.dumps(row | more) + "\n")


def write_listing(path: Path, cases: Path) -> None:
    """Write what the cases hold: a path and a text a line."""
    with path.open("w", encoding="utf-8") as file:
        for entry in sorted(cases.rglob("*")):
            if entry.is_file():
                name = entry.relative_to(cases).as_posix()
                text = entry.read_bytes().decode()
                file.write(json.dumps([name, text]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
