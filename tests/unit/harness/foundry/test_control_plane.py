from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support_foundry import make_project

from pytest_codegenie.errors import ProjectError
from pytest_codegenie.harness.foundry.control_plane import Rules
from pytest_codegenie.harness.foundry.control_plane import read_control_plane
from pytest_codegenie.harness.foundry.listing import Changes
from pytest_codegenie.harness.foundry.listing import compare
from pytest_codegenie.harness.foundry.listing import list_tree
from pytest_codegenie.harness.foundry.project import open_project
from pytest_codegenie.harness.foundry.records import ControlPlane


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/a/b/c.py", True),
        ("src/**", "srcs/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/x/y/b.py", True),
        ("src/pkg", "src/pkg/a/b.py", True),
        ("src/pkg/", "src/pkg/a.py", True),
        ("src/pkg", "src/pkgs/a.py", False),
        ("src/?.py", "src/a.py", True),
        ("src/[ab].py", "src/b.py", True),
        ("src/[!ab].py", "src/b.py", False),
        ("src/a.py", "src/axpy", False),
    ],
)
def test_patterns_are_those_of_gitignore(
    pattern: str, path: str, matches: bool
) -> None:
    assert Rules(ControlPlane(modifiable=[pattern])).may_modify(path) is matches


@pytest.mark.parametrize(
    "path", ["src", "prompt.md", "build_state.json", "solution/P-001.patch", "x/src/a"]
)
def test_nothing_else_is_modifiable_by_default(path: str) -> None:
    assert not Rules(ControlPlane()).may_modify(path)


def test_what_is_protected_is_not_modifiable() -> None:
    rules = Rules(ControlPlane(protected=["tests/acceptance/**"]))
    assert rules.may_modify("tests/test_a.py")
    assert not rules.may_modify("tests/acceptance/test_a.py")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (Changes(deleted=("src/a.py",)), "no file may be deleted.*src/a.py"),
        (Changes(added=("a.py",)), r"only src/\*\*, tests/\*\* may be modified.*a.py"),
        (
            Changes(added=("src/l",), special=("src/l",)),
            "link or a special file.*src/l",
        ),
        (Changes(added=("src/a\nb",)), r"have to be printable.*src/a\\nb"),
        (Changes(added=("src/a", "src/b", "src/c")), "2 files at most.*changed 3"),
        (Changes(modified=("src/a",), size=11), "10 bytes at most.*files of 11"),
    ],
)
def test_each_rule_says_what_broke_it(changes: Changes, words: Any) -> None:
    rules = Rules(ControlPlane(max_files_changed=2, max_patch_bytes=10))
    (sentence,) = rules.broken_by(changes)
    assert re.search(words, sentence)


def test_trees_are_compared_by_content_kind_and_mode(tmp_path: Path) -> None:
    for name in ("before", "after"):
        tree = tmp_path / name
        tree.mkdir()
        for file in ("same", "changed", "mode", "gone", "kind"):
            (tree / file).write_text("x", "utf-8")
    after = tmp_path / "after"
    (after / "changed").write_text("yy", "utf-8")
    (after / "mode").chmod(0o755)
    (after / "gone").unlink()
    (after / "kind").unlink()
    (after / "kind").symlink_to("same")
    (after / "new").write_text("zzz", "utf-8")
    (after / "__pycache__").mkdir()
    (after / "__pycache__" / "x.pyc").write_text("x", "utf-8")
    found = compare(list_tree(tmp_path / "before"), list_tree(after))
    assert found == Changes(
        added=("new",),
        modified=("changed", "kind", "mode"),
        deleted=("gone",),
        special=("kind",),
        size=2 + 1 + 3,
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("modifiable: [docs/**]", 1, "has to begin with src/ or tests/"),
        ("\nprotected:\n  - tests/a\n  - '!tests/b'", 4, "negation is not known"),
        ("modifiable: ['src/../**']", 1, "has to begin with src/ or tests/"),
        ("max_files: 3", 1, "unknown key .did you mean 'max_files_changed'"),
        ("max_files_changed: many", 1, "valid integer, got 'many'"),
        ("a: 1\na: 2", 2, "stands twice"),
    ],
)
def test_a_wrong_control_plane_is_told_with_its_line(
    tmp_path: Path, text: Any, line: int | None, words: Any
) -> None:
    path = tmp_path / "control-plane.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ProjectError, match=words) as caught:
        read_control_plane(path)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "thresholds:\n  covrage: 90",
            2,
            "thresholds.covrage: unknown key .*'coverage'",
        ),
        ("limits: {max_retries: -1}", 1, "limits.max_retries: .*got -1"),
        ("gates:\n  - ruff\n  - {name: x}", 3, "command: required key is missing"),
        ("gates: [ruff, ruff]", None, "'ruff' is there already"),
        ("gates: [pylint]", None, "'pylint' is there already"),
        ("environment: {python: 3.11}", 1, "valid string, got 3.11"),
        ("agent: oracle", 1, "agent: .*got 'oracle'"),
        ("- a", 1, "must be keys and values"),
    ],
)
def test_a_wrong_harness_file_is_told_with_its_line(
    tmp_path: Path, text: Any, line: int | None, words: Any
) -> None:
    project = make_project(tmp_path / "project", {"harness.yaml": text})
    with pytest.raises(ProjectError, match=words) as caught:
        open_project(project)
    assert caught.value.path.name == "harness.yaml"
    assert caught.value.line == line
