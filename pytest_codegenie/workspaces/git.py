"""Git, as we run it ourselves: only on our own git directory, never on the agent's.

Git runs programs that a repository's configuration names: hooks, filters, fsmonitor,
textconv. The tree is the agent's, so all commands use a git directory outside of it
and no configuration but ours; attributes that the tree brings are overruled.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from pytest_codegenie.errors import WorkspaceUnavailable
from pytest_codegenie.trees import copy_tree
from pytest_codegenie.trees import remove_tree
from pytest_codegenie.trees import walk
from pytest_codegenie.workspaces.protocol import Base
from pytest_codegenie.workspaces.protocol import PatchTooLarge
from pytest_codegenie.workspaces.single_commit import write_single_commit


#: A larger patch is kept, but not judged.
MAX_PATCH_BYTES = 32 << 20
#: Git would hash and pack a file for minutes before its diff could be measured.
MAX_FILE_BYTES = 1 << 30
#: 2020-01-01, UTC.
_COMMITTER = "codegenie <codegenie@localhost> 1577836800 +0000"
_TIMEOUT_SECONDS = 600.0
_DIFF = [
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
    "HEAD",
    "--",
]

#: Of every repository of ours: bytes are bytes, and nothing is tidied up.
SETTINGS = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tautocrlf = false
\tsafecrlf = false
\tquotepath = true
\tprotectNTFS = false
[user]
\tname = codegenie
\temail = codegenie@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_CONFIG = f"""\
{SETTINGS}\
[core]
\tbare = false
\tlogallrefupdates = false
\tsymlinks = true
[init]
\tdefaultBranch = main
"""
#: Overrules every .gitattributes: bytes are bytes.
ATTRIBUTES = "* -text !eol -ident -filter -working-tree-encoding !diff\n"
_ALL_BINARY = "* -text !eol -ident -filter -working-tree-encoding -diff\n"
#: By-products of running Python, which nobody means to hand in.
_EXCLUDE = "__pycache__/\n*.py[cod]\n.pytest_cache/\n"


def make_base(tree: Path, git_dir: Path) -> Base:
    """Make a git directory with one synthetic commit of ``tree``.

    No history, remotes, tags or reflog; author and dates are always the same.

    Raises:
        WorkspaceUnavailable: A file cannot be read or written; or git is missing,
            without which nobody could take a diff later.
    """
    if not shutil.which("git"):
        raise _no_git()
    try:
        _make_git_dir(git_dir)
        write_single_commit(tree, git_dir, _COMMITTER, "Base")
    except OSError as exc:
        raise WorkspaceUnavailable(f"no base can be made of {tree}: {exc}") from exc
    return Base(tree, git_dir)


def _make_git_dir(git_dir: Path) -> None:
    (git_dir / "objects" / "pack").mkdir(parents=True)
    (git_dir / "refs" / "heads").mkdir(parents=True)
    (git_dir / "info").mkdir()
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
    (git_dir / "info" / "exclude").write_text(_EXCLUDE, encoding="ascii")


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
    run_git(["add", "--all", "."], tree, place)
    text = _write_diff(tree, place, output)
    if text is None:
        (scratch / "info" / "attributes").write_text(_ALL_BINARY, encoding="ascii")
        text = _write_diff(tree, place, output)
    if text is None:
        raise WorkspaceUnavailable(f"the diff of {tree} is not text in any form")
    return text


def _write_diff(tree: Path, place: Mapping[str, str], output: Path) -> str | None:
    """Write the diff of the index; return its text, None when it is not UTF-8."""
    with output.open("wb") as file:
        # Not by --output: what does not fit on the disk would be missing, unsaid.
        run_git(_DIFF, tree, place, stdout=file)
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

    Raises:
        WorkspaceUnavailable: Git cannot be run, or does not end.
    """
    if not patch.endswith("\n"):
        patch += "\n"
    place = {"GIT_DIR": str(base.git_dir), "GIT_WORK_TREE": str(tree)}
    try:
        run_git(
            ["apply", "--whitespace=nowarn", "-"], tree, place, stdin=patch.encode()
        )
    except GitFailed as exc:
        return False, exc.reason
    return True, ""


def make_readable(tree: Path, base_tree: Path) -> None:
    """Let git read all of the tree as plain files, whatever the agent left.

    Modes that shut us out are opened; a nested repository becomes what it holds. What
    git cannot record (devices, sockets, a second ``.git`` by another spelling, a link
    as ``.gitmodules``, paths of more than 4096 bytes) goes: no agent may turn its own
    mess into an error of ours.

    Raises:
        PatchTooLarge: A file that the base does not have is too large by itself.
    """
    if tree.is_symlink() or not tree.is_dir():
        remove_tree(tree)
        tree.mkdir()
    _open_mode(os.fspath(tree), tree.stat().st_mode, 0o700)
    for path, entry in walk(tree, skip=".git"):  # which nobody reads
        if entry.name.lower() == ".git":
            remove_tree(Path(entry.path))
            continue
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError:
            # It lies deeper than any path can say, or went with what does.
            remove_tree(Path(entry.path).parent)
            continue
        if stat.S_ISDIR(mode):
            _open_mode(entry.path, mode, 0o700)
        elif stat.S_ISREG(mode):
            _open_mode(entry.path, mode, 0o600)
            size = entry.stat(follow_symlinks=False).st_size
            if size > MAX_FILE_BYTES and not _has_size(base_tree / path, size):
                raise PatchTooLarge(size, MAX_PATCH_BYTES)
        elif not stat.S_ISLNK(mode) or entry.name.lower() == ".gitmodules":
            Path(entry.path).unlink()


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


def _open_mode(path: str, mode: int, bits: int) -> None:
    if mode & bits != bits:
        # What is immutable can be read all the same by root, who alone can make it so.
        with contextlib.suppress(PermissionError):
            os.chmod(path, mode & 0o7777 | bits)  # noqa: PTH101 -- hot


class GitFailed(WorkspaceUnavailable):
    """Git has run and said no."""


def _no_git() -> WorkspaceUnavailable:
    return WorkspaceUnavailable(
        "git is not installed; install it (apt-get install git)"
    )


def run_git(
    arguments: list[str],
    cwd: Path,
    place: Mapping[str, str],
    *,
    stdin: bytes | None = None,
    stdout: BinaryIO | None = None,
    seconds: float | None = None,
) -> str:
    """Run git to its end; return what it prints, without white space around it.

    Args:
        arguments: Without ``git`` itself.
        cwd: A directory that is there.
        place: Where its directories are, and what else it gets of an environment.
        stdin: Given to it.
        stdout: Gets what it prints, instead.
        seconds: What it may take; None: as long as anything of ours.

    Raises:
        GitFailed: It says no; the reason has the end of its words.
        WorkspaceUnavailable: It is not installed, or does not end in time.
    """
    seconds = _TIMEOUT_SECONDS if seconds is None else seconds
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        **place,
    }
    try:
        process = subprocess.Popen(
            ["git", *arguments],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE if stdout else subprocess.STDOUT,
            # So that what it started can be ended too, and asks no terminal.
            start_new_session=True,
        )
    except FileNotFoundError:
        if not cwd.is_dir():
            raise WorkspaceUnavailable(f"{cwd} is gone") from None
        raise _no_git() from None
    output, in_time = _communicate(process, stdin, seconds)
    if not in_time:
        raise WorkspaceUnavailable(
            f"git {arguments[0]} took more than {seconds:g} seconds"
        )
    words = output.decode(errors="replace").strip()
    if process.returncode:
        raise GitFailed(f"git {arguments[0]}: {words[-2000:]}")
    return words


def _communicate(
    process: subprocess.Popen[bytes], stdin: bytes | None, seconds: float
) -> tuple[bytes, bool]:
    """Return (output, whether the process ended by itself in time).

    A time-out of ``communicate`` polls, and so learns of the end a millisecond late.
    """
    watchdog = threading.Timer(seconds, _kill_group, [process.pid])
    watchdog.start()
    try:
        output, errors = process.communicate(stdin)
    except BaseException:
        _kill_group(process.pid)
        process.wait()
        raise
    finally:
        in_time = watchdog.is_alive()
        watchdog.cancel()
    return output or errors or b"", in_time


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
