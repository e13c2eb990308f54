"""Git, as we run it ourselves: only on our own git directory, never on the agent's.

Git runs programs that a repository's configuration names: hooks, filters, fsmonitor,
textconv. The tree is the agent's, so all commands use a git directory outside of it
and no configuration but ours; attributes that the tree brings are overruled.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import PatchTooLarge


#: A larger patch is kept, but not judged.
MAX_PATCH_BYTES = 32 << 20
#: Git would hash and pack a file for minutes before its diff could be measured.
MAX_FILE_BYTES = 1 << 30
COMMIT_DATE = "2020-01-01T00:00:00+00:00"
_TIMEOUT_SECONDS = 600.0

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = false
\tautocrlf = false
\tsafecrlf = false
\tsymlinks = true
\tquotepath = true
[user]
\tname = codegenie
\temail = codegenie@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
[init]
\tdefaultBranch = main
"""
#: Overrules every .gitattributes: bytes are bytes.
_ATTRIBUTES = "* -text !eol -ident -filter -working-tree-encoding !diff\n"
_ALL_BINARY = "* -text !eol -ident -filter -working-tree-encoding -diff\n"
#: By-products of running Python, which nobody means to hand in.
_EXCLUDE = "__pycache__/\n*.py[cod]\n.pytest_cache/\n"


def make_base(tree: Path, git_dir: Path) -> Base:
    """Make a git directory with one synthetic commit of ``tree``.

    No history, remotes, tags or reflog; author and dates are always the same.

    Raises:
        WorkspaceUnavailable: Git is missing or fails.
    """
    (git_dir / "objects").mkdir(parents=True)
    (git_dir / "refs" / "heads").mkdir(parents=True)
    (git_dir / "info").mkdir()
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
    (git_dir / "info" / "exclude").write_text(_EXCLUDE, encoding="ascii")
    place = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(tree)}
    _git(["add", "--all", "--force", "."], tree, place)
    _git(
        ["commit", "--quiet", "--allow-empty", "--no-verify", "--message=Base"],
        tree,
        place,
    )
    (git_dir / "COMMIT_EDITMSG").unlink(missing_ok=True)
    return Base(tree, git_dir)


def fetch_tree(source: str, commit: str, directory: Path) -> Path:
    """Return a new directory with the files of a commit of a bundle or repository.

    Raises:
        WorkspaceUnavailable: There is no such repository or commit, or git fails.
    """
    git_dir, tree = directory / "fetched.git", directory / "fetched"
    tree.mkdir(parents=True)
    _git(["init", "--quiet", "--bare", str(git_dir)], directory, {})
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
    place = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(tree)}
    refs = "+refs/*:refs/fetched/*"
    _git(["fetch", "--quiet", "--no-tags", "--", source, refs], tree, place)
    name = ["--quiet", "--verify", "--end-of-options", f"{commit}^{{commit}}"]
    try:
        found = _git(["rev-parse", *name], tree, place)
    except WorkspaceUnavailable:
        raise WorkspaceUnavailable(f"{source} has no commit {commit!r}") from None
    _git(["checkout", "--quiet", "--force", found, "--", "."], tree, place)
    shutil.rmtree(git_dir)
    return tree


def take_diff(base: Base, tree: Path, scratch: Path, output: Path) -> str:
    """Return the difference between the base and ``tree`` as a git diff.

    Binary files, renames, new and deleted files and modes are in it. A diff that is
    not UTF-8 is made again with every file as binary, so that the text loses no byte.

    Args:
        base: What the tree was made from.
        tree: The agent's; nothing in its ``.git`` is read.
        scratch: An empty directory of ours.
        output: Gets the diff.

    Raises:
        PatchTooLarge: It has more than ``MAX_PATCH_BYTES``; ``output`` has it whole.
        WorkspaceUnavailable: Git fails on the tree.
    """
    (scratch / "objects").mkdir()
    (scratch / "info").mkdir()
    for name in ("HEAD", "config"):
        shutil.copyfile(base.git_dir / name, scratch / name)
    copy_tree(base.git_dir / "refs", scratch / "refs")
    shutil.copyfile(base.git_dir / "index", scratch / "index")
    for name in ("exclude", "attributes"):
        shutil.copyfile(base.git_dir / "info" / name, scratch / "info" / name)
    place = {
        "GIT_DIR": str(scratch),
        "GIT_WORK_TREE": str(tree),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base.git_dir / "objects"),
    }
    make_readable(tree, base.tree)
    _git(["add", "--all", "."], tree, place)
    text = _write_diff(tree, place, output)
    if text is None:
        (scratch / "info" / "attributes").write_text(_ALL_BINARY, encoding="ascii")
        text = _write_diff(tree, place, output)
    if text is None:
        raise WorkspaceUnavailable(f"the diff of {tree} is not text in any form")
    return text


def _write_diff(tree: Path, place: Mapping[str, str], output: Path) -> str | None:
    """Write the diff of the index; return its text, None when it is not UTF-8."""
    _git(
        [
            "diff",
            "--cached",
            "--binary",
            "--full-index",
            "--find-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            f"--output={output}",
            "HEAD",
        ],
        tree,
        place,
    )
    size = output.stat().st_size
    if size > MAX_PATCH_BYTES:
        raise PatchTooLarge(size, MAX_PATCH_BYTES)
    try:
        return output.read_bytes().decode()
    except UnicodeDecodeError:
        return None


def apply_patch(base: Base, tree: Path, patch: str) -> tuple[bool, str]:
    """Apply a git diff to ``tree``, all of it or nothing: (success, git's words).

    Git itself refuses paths that lead out of the tree, by ``..`` or by a link, and
    any path into a ``.git``.
    """
    if not patch.endswith("\n"):
        patch += "\n"
    place = {"GIT_DIR": str(base.git_dir), "GIT_WORK_TREE": str(tree)}
    try:
        _git(["apply", "--whitespace=nowarn", "-"], tree, place, stdin=patch.encode())
    except WorkspaceUnavailable as exc:
        return False, exc.reason
    return True, ""


def make_readable(tree: Path, base_tree: Path) -> None:
    """Let git read all of the tree as plain files, whatever the agent left.

    Modes that shut us out are opened; a nested repository becomes what it holds. What
    git cannot record (devices, sockets, a second ``.git`` by another spelling) goes:
    no agent may turn its own mess into an error of ours.

    Raises:
        PatchTooLarge: A file that the base does not have is too large by itself.
    """
    if tree.is_symlink() or not tree.is_dir():
        remove_tree(tree)
        tree.mkdir()
    tree.chmod(tree.stat().st_mode & 0o7777 | 0o700)
    for path, entry in walk(tree, skip=".git"):  # which nobody reads
        if entry.name.lower() == ".git":
            remove_tree(Path(entry.path))
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            _open_mode(entry.path, mode, 0o700)
        elif stat.S_ISREG(mode):
            _open_mode(entry.path, mode, 0o600)
            size = entry.stat(follow_symlinks=False).st_size
            if size > MAX_FILE_BYTES and not _has_size(base_tree / path, size):
                raise PatchTooLarge(size, MAX_PATCH_BYTES)
        elif not stat.S_ISLNK(mode):
            Path(entry.path).unlink()


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _open_mode(path: str, mode: int, bits: int) -> None:
    if mode & bits != bits:
        os.chmod(path, mode & 0o7777 | bits)  # noqa: PTH101 -- hot


def _git(
    arguments: list[str],
    cwd: Path,
    place: Mapping[str, str],
    *,
    stdin: bytes | None = None,
) -> str:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_DATE": COMMIT_DATE,
        "GIT_COMMITTER_DATE": COMMIT_DATE,
        **place,
    }
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd,
            env=environment,
            # Git takes either; an empty input is no terminal to ask at.
            input=stdin or b"",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        if not cwd.is_dir():
            raise WorkspaceUnavailable(f"{cwd} is gone") from None
        raise WorkspaceUnavailable(
            "git is not installed; install it (apt-get install git)"
        ) from None
    except subprocess.TimeoutExpired:
        raise WorkspaceUnavailable(
            f"git {arguments[0]} took more than {_TIMEOUT_SECONDS:.0f} seconds"
        ) from None
    output = done.stdout.decode(errors="replace").strip()
    if done.returncode:
        raise WorkspaceUnavailable(f"git {arguments[0]}: {output[-2000:]}")
    return output
