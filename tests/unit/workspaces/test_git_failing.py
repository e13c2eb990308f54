"""A git that cannot do its work says nothing about a patch."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.workspaces import Base
from pytest_codegenie.workspaces import git as workspace_git


_HANGING_GIT = """\
#!/bin/sh
mkfifo "$PLACE/never"
(: < "$PLACE/never") & : < "$PLACE/never"
"""


def test_git_and_what_it_started_are_ended(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "git"
    program.write_text(_HANGING_GIT.replace("$PLACE", str(tmp_path)), encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(workspace_git, "_TIMEOUT_SECONDS", 0.2)
    # It returns only once nobody has git's output open any more.
    with pytest.raises(WorkspaceUnavailable, match=r"git apply took more than 0\.2 s"):
        workspace_git.apply_patch(base, base.tree, "diff")


def test_a_git_that_is_gone_is_no_fault_of_a_patch(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceUnavailable, match="git is not installed"):
        workspace_git.apply_patch(base, base.tree, "diff")


def test_a_diff_that_does_not_fit_on_the_disk_is_no_smaller_diff(
    base: Base, tmp_path: Path, full_disk: Path
) -> None:
    tree = tmp_path / "tree"
    copy_tree(base.tree, tree)
    (tree / "new.txt").write_text("line\n" * 100_000, encoding="ascii")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(WorkspaceUnavailable, match=r"git diff: .*write"):
        workspace_git.take_diff(base, tree, scratch, full_disk / "patch.diff")


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if os.getuid() or subprocess.run(mount, check=False, stderr=-3).returncode:
        pytest.skip("only root can make a file system that is full")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)
