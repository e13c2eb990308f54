"""The floor of ``humaneval.py``: one interpreter for each problem, two at a time."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def run_problem(row: dict[str, str]) -> None:
    """Run a problem's solution and tests as HumanEval's own harness does."""
    parts = (row["prompt"], row["canonical_solution"], "\n", row["test"], "\n")
    program = "".join(parts) + f"check({row['entry_point']})\n"
    subprocess.run(
        [sys.executable, "-I", "-B", "-c", program], check=True, capture_output=True
    )


def main() -> None:
    """Run all problems of a file."""
    lines = gzip.decompress(Path(sys.argv[1]).read_bytes()).decode().splitlines()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run_problem, map(json.loads, lines)))


if __name__ == "__main__":
    main()
