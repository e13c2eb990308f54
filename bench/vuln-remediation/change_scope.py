"""How far a change spreads, next to what the reference solution needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath


#: A change fits with so many times the reference's lines and some on top,
LINES_RATIO = 3
SPARE_LINES = 15
#: and with so many files more than the reference has.
SPARE_FILES = 2
#: At so many times what fits, nothing is left of the value.
SPRAWL_RATIO = 4

#: Both names are the same, and may have spaces in them, unless it is a rename.
_HEADER = re.compile(
    r'diff --git (?:"?a/(?P<same>.+?)"? "?b/(?P=same)"?|.+ "?b/(?P<renamed>.+?)"?)'
)
_HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
_TEST_NAME = re.compile(r"test_.*|.*_test\.py|conftest\.py")
_SIDE_DIRECTORIES = frozenset({"test", "tests", "doc", "docs"})
_PROSE = frozenset({".md", ".rst", ".txt"})


@dataclass(frozen=True, slots=True)
class ChangeSize:
    """Files that were changed, and lines that were added or removed in them."""

    files: int
    lines: int


def measure(patch: str) -> ChangeSize:
    """Return the size of a git diff, without its tests, its docs and blank lines."""
    lines_of: dict[str, int] = {}
    for path, line in _walk(patch):
        if not _is_aside(PurePosixPath(path)):
            counts = line is not None and bool(line.strip())
            lines_of[path] = lines_of.get(path, 0) + counts
    return ChangeSize(len(lines_of), sum(lines_of.values()))


def fit(size: ChangeSize, reference: ChangeSize) -> float:
    """Return 1.0 if a change is near the reference's size, down to 0.0 for sprawl.

    The worse of the two, lines and files, decides.
    """
    return min(
        _fading(size.lines, LINES_RATIO * reference.lines + SPARE_LINES),
        _fading(size.files, reference.files + SPARE_FILES),
    )


def _fading(amount: int, fitting: int) -> float:
    """Return 1.0 up to what fits, then less in a straight line."""
    beyond = (amount - fitting) / (fitting * (SPRAWL_RATIO - 1))
    return 1.0 - min(max(beyond, 0.0), 1.0)


def _walk(patch: str) -> Iterator[tuple[str, str | None]]:
    """Yield each file with None, and then with each line added to or removed from it.

    Hunks are read by their lengths, because "--- x" in one is a removed line.
    """
    path = ""
    old = new = 0
    # Not splitlines(), which takes form feeds and the like for ends of lines too.
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            kind = line[:1]
            if kind in ("-", "+"):
                yield path, line[1:]
            if kind != "\\":  # "\ No newline at end of file"
                old -= kind != "+"
                new -= kind != "-"
        elif header := _HEADER.fullmatch(line):
            path = header["same"] or header["renamed"]
            yield path, None
        elif hunk := _HUNK.match(line):
            old, new = int(hunk["old"] or 1), int(hunk["new"] or 1)


def _is_aside(path: PurePosixPath) -> bool:
    """Tell whether a file is a test or a text, which any fix may bring along."""
    return (
        any(part.lower() in _SIDE_DIRECTORIES for part in path.parts[:-1])
        or _TEST_NAME.fullmatch(path.name) is not None
        or path.suffix.lower() in _PROSE
    )
