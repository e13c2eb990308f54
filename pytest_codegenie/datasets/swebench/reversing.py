"""A git diff turned round: what it adds goes, what it removes comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator


_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_PAIRS = {
    "new file mode": "deleted file mode",
    "deleted file mode": "new file mode",
    "old mode": "new mode",
    "new mode": "old mode",
    "rename from": "rename to",
    "rename to": "rename from",
}
_FILES = re.compile(r"diff --git (\S+) (\S+)")


class Irreversible(Exception):
    """A diff that cannot be turned round; it says why."""


def reversed_diff(diff: str) -> str:
    """Return the diff that undoes another.

    Raises:
        Irreversible: It is of a binary file, or is no git diff.
    """
    lines = diff.split("\n")
    if not any(line.startswith("diff --git ") for line in lines):
        raise Irreversible("is no git diff, so that it cannot be reversed")
    return "\n".join(_reversed(iter(lines)))


def _reversed(lines: Iterator[str]) -> Iterator[str]:
    header: list[str] = []
    for line in lines:
        if line.startswith(("GIT binary patch", "Binary files ")):
            raise Irreversible("changes a binary file, so that it cannot be reversed")
        if found := _HUNK.match(line):
            yield from _header(header)
            header = []
            old, new = int(found[2] or 1), int(found[4] or 1)
            yield line.replace(*_ranges(line), 1)
            yield from _hunk(lines, old, new)
        elif line.startswith("\\"):
            yield line
        else:
            if line.startswith("diff --git "):
                yield from _header(header)
                header = []
            header.append(line)
    yield from _header(header)


def _ranges(line: str) -> tuple[str, str]:
    """Return the two ranges of a hunk as they stand, and the other way round."""
    old, new = line.split(" ")[1:3]
    return f"{old} {new}", f"-{new[1:]} +{old[1:]}"


def _hunk(lines: Iterator[str], old: int, new: int) -> Iterator[str]:
    """Turn the lines of a hunk round: its header says how many there are."""
    swapped = {"+": "-", "-": "+"}
    added: list[str] = []
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            raise Irreversible("ends in the middle of a hunk")
        sign = line[:1] or " "
        old -= sign in " -"
        new -= sign in " +"
        added.append(swapped.get(sign, sign) + line[1:] if line else line)
    yield from added


def _header(header: list[str]) -> Iterator[str]:
    """Turn what stands before the hunks round, in git's order."""
    for line in header:
        if files := _FILES.fullmatch(line):
            yield f"diff --git a/{files[2][2:]} b/{files[1][2:]}"
        elif line.startswith("index ") and ".." in line:
            yield _index(line)
        elif line.startswith("--- "):
            continue
        elif line.startswith("+++ "):
            before = next(one for one in header if one.startswith("--- "))
            yield "--- " + _side(line, "b/", "a/")
            yield "+++ " + _side(before, "a/", "b/")
        else:
            key = next((one for one in _PAIRS if line.startswith(f"{one} ")), "")
            yield line.replace(key, _PAIRS[key], 1) if key else line


def _index(line: str) -> str:
    ids, space, mode = line.removeprefix("index ").partition(" ")
    before, _, after = ids.partition("..")
    return f"index {after}..{before}{space}{mode}"


def _side(line: str, prefix: str, other: str) -> str:
    name = line[4:]
    return f"{other}{name.removeprefix(prefix)}" if name.startswith(prefix) else name
