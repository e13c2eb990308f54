"""Each recipe is built once, by one, and a half-built environment is never used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Provider


MakeTree = Callable[..., Path]

#: Provides an environment of a tree in another process: TREE CACHE COMMAND.
BUILDER = """
import sys, tempfile
from pathlib import Path
from pytest_codegenie.workspaces import Recipe, WorkspaceSpec
from pytest_codegenie.workspaces.host import HostWorkspace

tree, cache, command = sys.argv[1:]
workspace = HostWorkspace()
workspace.configure(WorkspaceSpec(Path(tempfile.mkdtemp()), Path(cache)))
print(workspace.provide(Recipe(Path(tree), "acme/demo", install=(command,))).python)
"""


def start_builder(provide: Provider, tree: Path, command: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", BUILDER, str(tree), str(provide.spec.cache), command]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def test_twenty_cases_with_three_recipes_are_three_builds(
    provide: Provider, make_tree: MakeTree, tmp_path: Path
) -> None:
    log = tmp_path / "builds"
    found = set()
    for number in range(20):
        files = {"requirements.txt": f"# {number % 3}\n", f"case_{number}.py": ""}
        found.add(provide(make_tree(files), (f"echo built >> {log}",)).python)
    assert len(found) == 3
    assert log.read_text("utf-8").split() == ["built"] * 3


def test_what_was_built_before_starts_no_process(
    provide: Provider, make_tree: MakeTree
) -> None:
    first = provide(make_tree({"setup.cfg": ""}), ("true",))
    assert provide.commands
    provide.commands.clear()
    assert provide(make_tree({"setup.cfg": ""}), ("true",)) == first
    assert provide.commands == []


def test_what_a_recipe_is_made_of_makes_another_environment(
    provide: Provider, make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = provide(make_tree({"a.c": "1"}), ("true",))
    assert provide(make_tree({"a.c": "2"}), ("true",)) != first
    assert provide(make_tree({"a.c": "1"}), ("true ",)) != first
    monkeypatch.setenv("PIP_PRE", "1")
    assert provide(make_tree({"a.c": "1"}), ("true",)) != first


def test_two_processes_build_once(
    provide: Provider, make_tree: MakeTree, tmp_path: Path
) -> None:
    tree, log = make_tree({}), tmp_path / "builds"
    command = f"echo built >> {log}"
    builders = [start_builder(provide, tree, command) for _ in range(2)]
    outputs = {builder.communicate()[0] for builder in builders}
    assert [builder.returncode for builder in builders] == [0, 0]
    assert len(outputs) == 1
    assert log.read_text("utf-8") == "built\n"


def test_a_build_that_was_killed_is_made_anew(
    provide: Provider, make_tree: MakeTree, tmp_path: Path
) -> None:
    tree, reached = make_tree({"half.txt": ""}), tmp_path / "reached"
    os.mkfifo(reached)
    # The first try tells that it is half way, and hangs; the second is complete.
    command = f"test -p {reached} || exit 0; echo > {reached}; exec sleep 1000"
    builder = start_builder(provide, tree, command)
    reached.read_bytes()
    half_built = [path for path in provide.store.iterdir() if path.is_dir()]
    builder.kill()
    builder.communicate()
    reached.unlink()
    environment = provide(tree, (command,))
    assert [Path(environment.python).parents[2]] == half_built
    assert provide.record(environment).commands
    assert not (half_built[0] / "tree").exists()


def test_an_environment_whose_record_is_broken_is_made_anew(
    provide: Provider, make_tree: MakeTree
) -> None:
    environment = provide(make_tree({}), ("true",))
    record = Path(environment.python).parents[2] / "recipe.json"
    record.write_text(record.read_text("utf-8")[:100], "utf-8")
    assert provide(make_tree({}), ("true",)) == environment
    assert provide.record(environment).commands
