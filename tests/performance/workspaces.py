"""Making and removing a workspace, and running nothing in it.

A tree of 2,000 files, for each workspace that works on this machine, in turns with
``cp -r`` and ``rm -r`` of the same tree; then ``true`` in it, in turns with fork and
exec. Bound: preparing and destroying takes at most 1.25 times as long as ``cp`` and
``rm``, where the tree is on this machine.

On an ext4 without a journal all of this takes up to thirty times as long, because
the kernel does not reuse an inode in the minutes after its file was deleted: work on
another file system (``--directory /dev/shm``).
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from measuring import Bound
from measuring import arguments
from measuring import conclude
from measuring import ratios
from measuring import spread
from measuring import work_directory

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.parts import BUILTIN_PARTS
from pytest_codegenie.parts import make_part
from pytest_codegenie.processes import Limits
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import Environment
from pytest_codegenie.workspaces import Recipe
from pytest_codegenie.workspaces import Workspace
from pytest_codegenie.workspaces import WorkspaceSpec
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces import remove_tree


_FILES = 2000
_FILES_IN_DIRECTORY = 20
_FILE_BYTES = 2000
_EXECUTIONS_PER_PAIR = 5
_BOUND = 1.25


def main() -> int:
    """Measure; return the exit code."""
    options = arguments(__doc__, pairs=11).parse_args()
    pairs = options.pairs * (3 if options.full else 1)
    with work_directory(options.directory) as directory:
        tree = _make_tree(directory / "tree")
        base = _measure_base(directory, tree, pairs)
        bounds = []
        for name in BUILTIN_PARTS.workspaces:
            print(f"\n{name}")
            try:
                bounds += _measure_workspace(name, directory, base, pairs)
            except WorkspaceUnavailable as exc:
                print(f"  not measured: {exc}")
    return conclude(*bounds)


def _make_tree(directory: Path) -> Path:
    """Make the tree: text that packs as badly as code does."""
    random = Random(1)
    for number in range(_FILES):
        place = directory / f"package_{number // _FILES_IN_DIRECTORY}"
        place.mkdir(parents=True, exist_ok=True)
        text = random.randbytes(_FILE_BYTES // 2).hex()
        (place / f"module_{number}.py").write_text(f"{text}\n", encoding="ascii")
    return directory


def _measure_base(directory: Path, tree: Path, pairs: int) -> Base:
    """Measure what comes before all workspaces of a case, and once."""
    git_dir = directory / "base.git"
    ours, floor = [], []
    base = make_base(tree, git_dir)
    for _ in range(pairs):
        remove_tree(git_dir)
        ours.append(_milliseconds(lambda: make_base(tree, git_dir)))
        floor.append(_milliseconds(lambda: _add_by_git(tree, directory / "git")))
        shutil.rmtree(directory / "git")
    print("the base's commit")
    spread("ours, ms", ours, 1)
    spread("git add, ms", floor, 1)
    ratios("to git add", ours, floor)
    return base


def _add_by_git(tree: Path, git_dir: Path) -> None:
    git = ["git", f"--git-dir={git_dir}", f"--work-tree={tree}"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "--all"], cwd=tree, check=True)


def _measure_workspace(
    name: str, directory: Path, base: Base, pairs: int
) -> list[Bound]:
    """Measure one kind; return its bounds.

    Raises:
        WorkspaceUnavailable: It does not work here.
    """
    environment = _environment(name, directory, base)
    prepare, destroy, copy, remove = [], [], [], []
    for _ in range(pairs):
        workspace = _configured(name, directory)
        made = functools.partial(workspace.prepare, base, environment)
        prepare.append(_milliseconds(made))
        destroy.append(_milliseconds(workspace.destroy))
        copy.append(_run_ms("cp", "-r", str(base.tree), str(directory / "copy")))
        remove.append(_run_ms("rm", "-r", str(directory / "copy")))
    spread("prepare, ms", prepare, 1)
    spread("destroy, ms", destroy, 1)
    spread("cp -r, ms", copy, 1)
    spread("rm -r, ms", remove, 1)
    ratios("prepare to cp", prepare, copy)
    ratios("destroy to rm", destroy, remove)
    whole = ratios(
        "both to both",
        [a + b for a, b in zip(prepare, destroy, strict=True)],
        [a + b for a, b in zip(copy, remove, strict=True)],
    )
    _measure_exec(_prepared(name, directory, base, environment), pairs)
    if name == "docker":
        return []
    return [Bound(f"{name}: prepare and destroy, to cp and rm", whole, _BOUND)]


def _measure_exec(workspace: Workspace, pairs: int) -> None:
    """Measure ``true``, and destroy the workspace."""
    env = workspace.variables("judge")
    true = shutil.which("true") or "true"

    def execute() -> None:
        workspace.exec(["true"], phase="judge", env=env, limits=Limits())

    def spawn() -> None:
        os.waitpid(os.posix_spawn(true, ["true"], {}), 0)

    ways: dict[str, Callable[[], object]] = {
        "exec true, ms": execute,
        "subprocess.run, ms": lambda: subprocess.run([true], check=True),
        "posix_spawn, ms": spawn,
    }
    try:
        execute()  # starts what stays warm
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(pairs * _EXECUTIONS_PER_PAIR):
            for name, way in ways.items():
                times[name].append(_milliseconds(way))
    finally:
        workspace.destroy()
    ours, subprocesses, spawned = times.values()
    for name, values in times.items():
        spread(name, values)
    ratios("to subprocess.run", ours, subprocesses)
    ratios("to posix_spawn", ours, spawned)


def _environment(name: str, directory: Path, base: Base) -> Environment:
    workspace = _configured(name, directory)
    try:
        return workspace.provide(Recipe(tree=base.tree, repository="acme/tree"))
    finally:
        workspace.destroy()


def _prepared(
    name: str, directory: Path, base: Base, environment: Environment
) -> Workspace:
    workspace = _configured(name, directory)
    workspace.prepare(base, environment)
    return workspace


def _configured(name: str, directory: Path) -> Workspace:
    workspace: Workspace = make_part("workspace", name, BUILTIN_PARTS.workspaces)
    fault = workspace.probe()
    if fault:
        raise WorkspaceUnavailable(fault)
    place = directory / "workspace"
    place.mkdir()
    workspace.configure(WorkspaceSpec(directory=place, cache=directory / "cache"))
    return workspace


def _run_ms(*argv: str) -> float:
    return _milliseconds(lambda: subprocess.run(argv, check=True))


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    sys.exit(main())
