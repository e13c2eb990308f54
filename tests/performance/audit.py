"""Verifying an audit chain of 10,000 records.

``links`` is what the start of every session does: digests and heads. ``contents`` is
``codegenie audit verify`` where no run is left: contents are read and their canonical
form is checked too. Both in turns with the floor: reading the file and hashing its
bytes, once with BLAKE3. Then appending a record to that chain, in turns with ``links``:
a writer verifies what it appends to.

Each record is of 20 cases. Bound: ``links`` takes at most 3 times the floor.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from measuring import Bound
from measuring import arguments
from measuring import conclude
from measuring import ratios
from measuring import spread
from measuring import work_directory

from pytest_codegenie.evidence.audit.canonical import canonical_json
from pytest_codegenie.evidence.audit.chain import AUDIT
from pytest_codegenie.evidence.audit.chain import CHAIN
from pytest_codegenie.evidence.audit.chain import append_records
from pytest_codegenie.evidence.audit.chain import check_chain
from pytest_codegenie.evidence.audit.verifying import audit
from pytest_codegenie.hashing import hash_bytes


_RECORDS = 10_000
_CASES = 20
_BOUND = 3.0


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=15).parse_args()
    pairs = options.pairs * (3 if options.full else 1)
    with work_directory(options.directory) as directory:
        append_records(directory, [_content(number) for number in range(_RECORDS)])
        path = directory / AUDIT / CHAIN
        print(f"{_RECORDS} records, {path.stat().st_size / 1e6:.1f} MB")
        floor = _timed(lambda: hash_bytes(path.read_bytes()))
        links = _measure(
            "links", _timed(lambda: check_chain(directory)), "floor", floor, pairs
        )
        contents = _timed(lambda: audit(directory, selects=lambda entry, _: False))
        _measure("contents", contents, "floor", floor, pairs)
        numbers = iter(range(_RECORDS, 2 * _RECORDS))
        append = _timed(lambda: append_records(directory, [_content(next(numbers))]))
        _measure(
            "append", append, "links", _timed(lambda: check_chain(directory)), pairs
        )
    return conclude(Bound("links", links, _BOUND))


def _content(number: int) -> bytes:
    """Return what a record of a run of ordinary size says."""
    cases = [f"case-{case}" for case in range(_CASES)]
    score = {
        "passed": True,
        "score": 0.75,
        "breakdown": {"fixed": 1.0, "kept": 0.5},
        "failure_modes": [],
        "cost_usd": 0.0,
        "wall_clock_ms": 12.25,
    }
    report = {
        "run_id": f"run-{number}",
        "task_class": "demo-task",
        "agent": "oracle",
        "complete": True,
        "ended_at": "2026-11-21T12:00:00Z",
        "per_case": dict.fromkeys(cases, score),
    }
    digests = {f"{case}-t1": hash_bytes(case.encode()) for case in cases}
    return canonical_json({"report": report, "results": digests})


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    """Return what does the work and tells how many seconds of CPU it took."""

    def run() -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    return run


def _measure(
    name: str,
    ours: Callable[[], float],
    floor_name: str,
    floor: Callable[[], float],
    pairs: int,
) -> float:
    """Run both in turns; return the median of the ratios."""
    both = [(ours(), floor()) for _ in range(pairs)]
    print(f"\n{name}")
    spread("ours, ms", [one * 1e3 for one, _ in both])
    spread(f"{floor_name}, ms", [other * 1e3 for _, other in both])
    return ratios("ratio", [one for one, _ in both], [other for _, other in both])


if __name__ == "__main__":
    raise SystemExit(main())
