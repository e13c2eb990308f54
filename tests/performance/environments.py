"""An environment that was built before, against what its recipe must read.

Ours is `provide` for a tree of 2,000 files; the floor walks the same tree. No process
may start. Bound: the CPU time of ours above the floor, a call.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Bound
from measuring import arguments
from measuring import conclude
from measuring import spread
from measuring import work_directory

from pytest_codegenie.processes import Completed
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces.environments import provide
from pytest_codegenie.workspaces.host import run_setup


_CALLS = 20
_PYPROJECT = '[project]\nname = "x"\ndependencies = []\n'


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=15).parse_args()
    with work_directory(options.directory) as directory:
        tree = _make_tree(directory / "tree", 2000)
        spec = WorkspaceSpec(directory, directory / "cache")
        recipe = Recipe(tree, "acme/x", install=("true",))
        provide(recipe, spec, run_setup)
        ours_ms, floor_ms = [], []
        for _ in range(options.pairs):
            ours_ms.append(_time(lambda: provide(recipe, spec, _start_nothing)))
            floor_ms.append(_time(lambda: list(walk(tree))))
    print("a call, ms of CPU")
    spread("ours", ours_ms)
    spread("floor", floor_ms)
    above = [a - b for a, b in zip(ours_ms, floor_ms, strict=True)]
    return conclude(Bound("ms of CPU above the floor", spread("above", above), 5))


def _make_tree(tree: Path, files: int) -> Path:
    for number in range(files):
        path = tree / f"package_{number // 20}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"NUMBER = {number}\n", encoding="utf-8")
    (tree / "pyproject.toml").write_text(_PYPROJECT, encoding="utf-8")
    return tree


def _start_nothing(argv: Any, **_options: Any) -> Completed:
    raise SystemExit(f"a process was started: {argv}")


def _time(call: Callable[[], object]) -> float:
    """Return milliseconds of CPU of a call, over some."""
    started = time.process_time()
    for _ in range(_CALLS):
        call()
    return (time.process_time() - started) * 1000 / _CALLS


if __name__ == "__main__":
    sys.exit(main())
