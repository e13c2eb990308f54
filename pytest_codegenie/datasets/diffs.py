"""Git diffs of files that are at hand as text."""

from __future__ import annotations

import difflib
from collections.abc import Iterator


_NO_NEWLINE = "\\ No newline at end of file\n"


def file_diff(path: str, old: str | None, new: str | None) -> str:
    """Return the diff of one file, as ``git apply`` takes it; "" if it is the same.

    Args:
        path: POSIX path relative to the repository; without what git would quote.
        old: None: the file is new.
        new: None: the file goes.
    """
    if old == new:
        return ""
    header = [f"diff --git a/{path} b/{path}\n"]
    if old is None:
        header.append("new file mode 100644\n")
    if new is None:
        header.append("deleted file mode 100644\n")
    lines = difflib.unified_diff(
        _lines(old or ""),
        _lines(new or ""),
        "/dev/null" if old is None else f"a/{path}",
        "/dev/null" if new is None else f"b/{path}",
    )
    return "".join([*header, *_ended(lines)])


def _lines(text: str) -> list[str]:
    """Return the lines as git counts them: a carriage return ends none."""
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return ended + lines[-1:] if lines[-1] else ended


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if not line.endswith("\n"):
            yield f"\n{_NO_NEWLINE}"
