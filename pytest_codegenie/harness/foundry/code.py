"""What an agent hands in for a step: a git diff, or blocks with whole files.

A block is a line ``File: <path>`` and, below it, a fence with the file's content::

    File: src/greeting.py
    ```python
    def greet(name): ...
    ```

The fence is longer than any in the content. Other text around blocks is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from pathlib import PurePosixPath

from pytest_codegenie.workspaces import Workspace


_FILE = re.compile(
    r"[ \t]*(?:[*#]+[ \t]*)?File:[ \t]*[`*]*(?P<path>[^`*\n]+?)[`*]*[ \t]*"
)
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)")
_DIFF = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)


class UnusableCode(Exception):
    """What an agent handed in cannot be applied; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def apply_code(code: str, workspace: Workspace, temporary: Path) -> None:
    """Apply what an agent handed in to a workspace's tree, all of it or nothing.

    Args:
        code: A git diff or file blocks.
        workspace: Holds what the step starts from.
        temporary: A new directory of ours.

    Raises:
        UnusableCode: It is neither, or does not apply.
    """
    if not code.strip():
        raise UnusableCode("the agent changed nothing")
    blocks = dict(_blocks(code))
    if blocks:
        _put(blocks, workspace, temporary)
        return
    diff = _diff_of(code)
    if not diff:
        raise UnusableCode(
            "what was handed in is neither a git diff nor files ('File: src/x.py' with "
            "a fence below it that holds all of the file)"
        )
    applied, words = workspace.apply_patch(diff)
    if not applied:
        raise UnusableCode(f"the diff does not apply: {words}")


def _diff_of(code: str) -> str:
    """Return the diff in a text; "" where there is none."""
    found = _DIFF.search(code)
    if found is None:
        return ""
    before = code[: found.start()].rstrip("\n").rpartition("\n")[2]
    fence = _FENCE.fullmatch(before)
    diff = code[found.start() :]
    if fence is None:
        return diff
    return diff.partition(f"\n{fence['mark']}")[0] + "\n"


def _blocks(code: str) -> Iterator[tuple[str, str]]:
    """Yield path and content of each block.

    Raises:
        UnusableCode: A path stands twice, or a fence is not closed.
    """
    seen: set[str] = set()
    lines = iter(code.replace("\r\n", "\n").split("\n"))
    waiting = ""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            content = _until_closed(lines, fence["mark"], waiting)
            if waiting:
                if waiting in seen:
                    raise UnusableCode(f"the file {waiting!r} was handed in twice")
                seen.add(waiting)
                yield waiting, content
            waiting = ""
        elif found := _FILE.fullmatch(line):
            waiting = found["path"].strip()
        elif line.strip():
            waiting = ""


def _until_closed(lines: Iterator[str], mark: str, path: str) -> str:
    content: list[str] = []
    for line in lines:
        bare = line.strip()
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return "".join(f"{one}\n" for one in content)
        content.append(line)
    place = f"of the file {path!r} " if path else ""
    raise UnusableCode(f"the fence {mark!r} {place}is not closed")


def _put(blocks: dict[str, str], workspace: Workspace, temporary: Path) -> None:
    files: dict[str, Path | None] = {}
    for number, (path, content) in enumerate(blocks.items()):
        parts = PurePosixPath(path).parts
        fault = (
            not parts
            or parts[0] == "/"
            or ".." in parts
            or any(part.lower() == ".git" for part in parts)
        )
        if fault:
            raise UnusableCode(f"{path!r} is no path of a file below the project")
        file = temporary / str(number)
        try:
            file.write_text(content, encoding="utf-8")
        except UnicodeEncodeError:
            raise UnusableCode(f"the content of {path!r} is no text") from None
        _keep_mode(workspace.tree.joinpath(*parts), file)
        files[PurePosixPath(path).as_posix()] = file
    try:
        workspace.put(files)
    except (OSError, ValueError) as exc:
        raise UnusableCode(f"the files cannot be written: {exc}") from exc


def _keep_mode(old: Path, new: Path) -> None:
    if old.is_file() and not old.is_symlink():
        new.chmod(old.stat().st_mode & 0o777 | 0o600)
