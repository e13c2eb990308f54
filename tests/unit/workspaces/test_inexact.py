"""Patches that git refuses and SWE-bench's harness does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie.trees import copy_tree
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import make_base
from pytest_codegenie.workspaces import make_exact
from pytest_codegenie.workspaces.git import apply_patch


TEXT = "".join(f"line {number}\n" for number in range(1, 9))
HEAD = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n"


@pytest.fixture
def base(tmp_path: Path) -> Base:
    tree = tmp_path / "base"
    tree.mkdir()
    (tree / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (tree / "out").symlink_to(tmp_path / "outside")
    return make_base(tree, tmp_path / "base.git")


def exact(base: Base, patch: str, tmp_path: Path) -> str | None:
    """Return the exact diff; the patch is one that git refuses."""
    copy = tmp_path / "copy"
    copy_tree(base.tree, copy)
    assert not apply_patch(base, copy, patch)[0]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    made = make_exact(base, patch, scratch)
    assert list(scratch.iterdir()) == []
    assert (base.tree / "a.txt").read_text(encoding="utf-8") == TEXT
    if made:
        assert apply_patch(base, copy, made) == (True, "")
        assert sorted(path.name for path in copy.iterdir()) == ["a.txt", "out"]
        assert (copy / "a.txt").read_text(encoding="utf-8") == TEXT.replace("4", "four")
    return made


def test_context_may_differ_and_lines_may_have_moved(
    base: Base, tmp_path: Path
) -> None:
    patch = f"{HEAD}@@ -1,4 +1,4 @@\n other\n line 3\n-line 4\n+line four\n line 5\n"
    made = exact(base, patch, tmp_path)
    assert made is not None
    assert "-line 4\n+line four\n" in made


def test_what_is_there_already_is_no_change(base: Base, tmp_path: Path) -> None:
    patch = f"{HEAD}@@ -3,3 +3,3 @@\n line 3\n-line four\n+line 4\n line 5\n"
    assert exact(base, patch, tmp_path) == ""


@pytest.mark.parametrize(
    "patch",
    [
        f"{HEAD}@@ -3,3 +3,3 @@\n line 3\n-line none\n+line four\n line 5\n",
        "no patch at all",
        "--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n",
        "--- /dev/null\n+++ b/out/x\n@@ -0,0 +1 @@\n+x\n",
        # Scripts for ed, which GNU patch would have run.
        "--- a/a.txt\n+++ b/a.txt\n1c\nx\n.\n!touch x\n",
        "Index: a.txt\n1c\nx\n.\n!touch x\n",
        # Broken off, or with what belongs to no hunk in it.
        f"{HEAD}@@ -1,4 +1,4 @@\n line 2\n line 3\n-line 4\n",
        f"{HEAD}@@ -1,4 +1,4 @@\n line 2\n1c\nx\n.\n",
    ],
)
def test_what_does_not_apply_or_leads_elsewhere_is_none(
    base: Base, tmp_path: Path, patch: str
) -> None:
    assert exact(base, patch, tmp_path) is None
    assert list((tmp_path / "outside").iterdir()) == []
    assert not list(tmp_path.rglob("x"))
