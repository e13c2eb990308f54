from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support_foundry import build
from support_foundry import make_project
from support_foundry import tree_of
from support_foundry import whole_tree


HERE = Path(__file__).parent
TESTS = HERE.parents[2]


def essence(project: Path) -> dict[str, object]:
    """Return what a state has beside times, names of commits and counts of writes."""
    state = json.loads((project / "build_state.json").read_text("utf-8"))
    for key in ("started_at", "revision", "start", "head", "commits"):
        del state[key]
    return state  # type: ignore[no-any-return]


def titles(project: Path) -> list[str]:
    git_dir = str(project / ".codegenie-build" / "history.git")
    command = ["git", "--git-dir", git_dir, "log", "--format=%s", "main"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_killed_at_any_moment_a_build_goes_on_where_it_was(tmp_path: Path) -> None:
    calm = make_project(tmp_path / "calm" / "demo")
    assert build(calm).ended == "complete"
    killed = tmp_path / "killed"
    done = subprocess.run(
        [sys.executable, str(HERE / "killing.py"), str(killed), "7", "60"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    projects = [path / "demo" for path in killed.iterdir()]
    assert projects
    for project in projects:
        assert tree_of(project) == whole_tree()
        assert essence(project) == essence(calm)
        # Each step once, in its order.
        assert titles(project) == titles(calm)
        assert not list((project / ".codegenie-build" / "tmp").iterdir())
