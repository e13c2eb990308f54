"""The floor of ``cases.py``: the same processes and trees, and nothing else.

For each case: git add and commit of the base, a copy for the agent, the agent, git add
and diff, a fresh copy, git apply, the test, and all of it removed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = false
[user]
\tname = nobody
\temail = nobody@localhost
[maintenance]
\tauto = false
"""
_AGENT = ["/bin/sh", "-c", "sed -i 's/a - b/a + b/' calc.py"]
_TEST = ["/bin/sh", "-c", "grep -q 'return a + b' calc.py"]


def run_case(source: Path, scratch: Path) -> None:
    """Do the work of one case."""
    git_dir = scratch / "base.git"
    for name in ("objects", "refs/heads"):
        (git_dir / name).mkdir(parents=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    _git(git_dir, source, "add", "--all", "--force", ".")
    _git(git_dir, source, "commit", "--quiet", "--message=Base")
    tree = _copy(source, git_dir, scratch / "agent")
    subprocess.run(_AGENT, cwd=tree, capture_output=True, check=True)
    diff_dir = scratch / "diff.git"
    shutil.copytree(git_dir, diff_dir)
    _git(diff_dir, tree, "add", "--all", ".")
    patch = _git(diff_dir, tree, "diff", "--cached", "--binary", "HEAD")
    tree = _copy(source, git_dir, scratch / "judge")
    _git(git_dir, tree, "apply", "-", stdin=patch)
    subprocess.run(_TEST, cwd=tree, capture_output=True, check=True)


def _copy(source: Path, git_dir: Path, target: Path) -> Path:
    shutil.copytree(source, target, symlinks=True)
    shutil.copytree(git_dir, target / ".git")
    return target


def _git(git_dir: Path, tree: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", *arguments],
        cwd=tree,
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": str(git_dir),
            "GIT_WORK_TREE": str(tree),
        },
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout


def main() -> None:
    """Do all cases of a directory."""
    for case in sorted(Path(sys.argv[1]).iterdir()):
        if case.is_dir():
            scratch = Path(tempfile.mkdtemp())
            run_case(case / "input" / "repo", scratch)
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
