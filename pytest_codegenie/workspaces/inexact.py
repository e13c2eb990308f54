"""Patches that ``git apply`` refuses, applied as SWE-bench's harness then does.

It falls back to GNU patch, which tolerates context that differs. So that a workspace
need not know of this, it is done on a copy of the base, and what comes out of it is a
diff that applies exactly.

GNU patch also takes scripts for ``ed``, which run commands, and looks for them wherever
a diff has other text. So it gets diffs alone, line for line.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.workspaces import git
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import PatchTooLarge


_TIMEOUT_SECONDS = 60.0
#: What SWE-bench asks for; and that nothing is left beside the files.
_OPTIONS = (
    "--unified",
    "--get=0",
    "--batch",
    "--forward",
    "--fuzz=5",
    "--strip=1",
    "--no-backup-if-mismatch",
    "--reject-file=-",
)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
#: What stands before the hunks of a file.
_HEADER = re.compile(
    r"diff --git .+|--- .+|\+\+\+ .+|index [0-9a-f]+\.\.[0-9a-f]+( \d+)?"
    r"|((new|deleted) file|old|new) mode \d+|(dis)?similarity index \d+%"
    r"|(rename|copy) (from|to) .+"
)


def make_exact(base: Base, patch: str, directory: Path) -> str | None:
    """Return the diff that an inexact patch comes down to.

    Args:
        base: What it was meant for.
        patch: A diff that ``git apply`` refuses.
        directory: Where files can be made meanwhile.

    Returns:
        A git diff, "" if all of the patch is in the base already; None if it does not
        apply in this way either, or there is no GNU patch here.

    Raises:
        WorkspaceUnavailable: Git fails on what came out.
    """
    program = shutil.which("patch")
    only_diff = _only_diff(patch)
    if program is None or not only_diff:
        return None
    place = Path(tempfile.mkdtemp(dir=directory, prefix="inexact-"))
    try:
        tree = place / "tree"
        copy_tree(base.tree, tree)
        if not _applies(program, base, tree, only_diff):
            return None
        (place / "git").mkdir()
        return git.take_diff(base, tree, place / "git", place / "exact.diff")
    except PatchTooLarge:
        return None
    finally:
        remove_tree(place)


def _only_diff(patch: str) -> str:
    """Return the lines that are of a unified diff; "" if a hunk is broken off."""
    kept: list[str] = []
    old = new = 0
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            sign = line[:1] or " "
            if sign not in " +-\\":
                return ""
            old -= sign in " -"
            new -= sign in " +"
            kept.append(line)
        elif hunk := _HUNK.match(line):
            old, new = (int(hunk[number] or 1) for number in (1, 2))
            kept.append(line)
        elif line.startswith("\\") or _HEADER.fullmatch(line):
            kept.append(line)
    return "" if old > 0 or new > 0 else "\n".join([*kept, ""])


def _applies(program: str, base: Base, tree: Path, patch: str) -> bool:
    try:
        completed = subprocess.run(
            [program, *_OPTIONS],
            cwd=tree,
            input=patch.encode(),
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin", "TMPDIR": str(tree.parent)},
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return completed.returncode == 0 or _is_applied(base, tree, patch)


def _is_applied(base: Base, tree: Path, patch: str) -> bool:
    """Say whether all of a patch is in the tree: GNU patch calls that a failure."""
    place = {"GIT_DIR": str(base.git_dir), "GIT_WORK_TREE": str(tree)}
    command = ["apply", "--check", "--reverse", "--whitespace=nowarn", "-"]
    try:
        git.run_git(command, tree, place, stdin=patch.encode())
    except git.GitFailed:
        return False
    return True
