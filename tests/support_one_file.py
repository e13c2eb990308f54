"""Problems that are one file, for tests: rows, and solutions that really run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support import Bench

from pytest_codegenie.models import CaseResult


DATA = Path(__file__).parent / "data" / "datasets"
#: A problem in HumanEval's form.
ADDER = {
    "task_id": "Toy/0",
    "prompt": 'def add(a, b):\n    """Return the sum of two numbers."""\n',
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": (
        "def check(candidate):\n"
        "    assert candidate(1, 2) == 3\n"
        "    assert candidate(-1, 1) == 0\n"
    ),
}


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def hand_in(
    bench: Bench, case_id: str, solution: str, file: str = "solution.py", **fields: Any
) -> CaseResult:
    """Run a case with an agent that writes this solution."""
    script = f"printf %s {shlex.quote(solution)} > {file}"
    return bench.run_shell(script, case_id, **fields)


def failing_tests(result: CaseResult) -> dict[str, str]:
    """Return the statuses of the tests that have to be mended."""
    assert result.output is not None, result.message
    assert result.output.evaluation is not None, result.message
    return dict(result.output.evaluation.fail_to_pass_results)
