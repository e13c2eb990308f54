"""How large a patch is, and whether that fits what had to be done."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath


#: A patch fits up to so many times the reference's size, plus a margin.
LINES_FACTOR, LINES_MARGIN = 2, 20
FILES_FACTOR, FILES_MARGIN = 1, 2
#: So many times the largest size that fits is a rewrite.
REWRITE_FACTOR = 5

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FILE = "diff --git "
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_FOLDERS_BESIDE = {"changelog", "doc", "docs", "test", "tests"}
_DOCS_SUFFIXES = {".md", ".rst", ".txt"}


def measure_scope(patch: str, reference: str) -> float:
    """Return how well a patch's size fits that of the reference solution.

    The size is the number of files and that of added and removed lines. Blank
    lines, tests and documentation do not count, on either side.

    Args:
        patch: A git diff; "" for none, which is never too large.
        reference: The reference solution, likewise.

    Returns:
        1.0 for a patch that fits, 0.0 for a rewrite, in between in a straight line.
        The worse of lines and files counts.
    """
    changed, needed = _of_code(changed_lines(patch)), _of_code(changed_lines(reference))
    lines = _fit(changed.total(), LINES_FACTOR * needed.total() + LINES_MARGIN)
    files = _fit(len(changed), FILES_FACTOR * len(needed) + FILES_MARGIN)
    return min(lines, files)


def changed_lines(patch: str) -> Counter[str]:
    """Return path to the number of added and removed lines that are not blank.

    A file that is binary, or only renamed, is there with 0 lines.
    """
    changes: Counter[str] = Counter()
    path = ""
    old_left = new_left = 0
    # Not splitlines(): a form feed does not end a line of a diff.
    for line in patch.split("\n"):
        sign, text = line[:1], line[1:]
        if old_left > 0 or new_left > 0:
            # Inside of a hunk, where "--- x" is a removed line and no header.
            old_left -= sign in {"-", " ", ""}
            new_left -= sign in {"+", " ", ""}
            changes[path] += sign in {"-", "+"} and bool(text.strip())
        elif hunk := _HUNK.match(line):
            old_left, new_left = (int(count or 1) for count in hunk.groups())
        elif line.startswith(_FILE):
            path = _new_path(line.removeprefix(_FILE))
            changes[path] = 0
    return changes


def _new_path(paths: str) -> str:
    """Return the second path of ``a/old b/new``."""
    # Not a rename: both are the same, and may have spaces in them.
    old, new = paths[: len(paths) // 2], paths[len(paths) // 2 + 1 :]
    if old.replace("a/", "b/", 1) != new:
        new = paths.rpartition(" ")[2]
    return new.strip('"').removeprefix("b/")


def _of_code(changes: Counter[str]) -> Counter[str]:
    """Leave out tests and documentation."""
    return Counter({path: changes[path] for path in changes if not _is_beside(path)})


def _is_beside(path: str) -> bool:
    pure = PurePosixPath(path)
    return (
        not _FOLDERS_BESIDE.isdisjoint(part.lower() for part in pure.parts[:-1])
        or _TEST_FILE.fullmatch(pure.name) is not None
        or pure.suffix.lower() in _DOCS_SUFFIXES
    )


def _fit(size: int, largest: int) -> float:
    """Return 1.0 up to the largest size that fits, 0.0 from that of a rewrite."""
    rewrite = REWRITE_FACTOR * largest
    return min(1.0, max(0.0, (rewrite - size) / (rewrite - largest)))
