"""Patterns for what is left out of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


class Excludes:
    """Says which paths do not count."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = tuple(patterns)

    @classmethod
    def from_text(cls, text: str) -> Excludes:
        """One pattern a line; blank lines and those with ``#`` in front are none."""
        lines = (line.strip() for line in text.splitlines())
        return cls(line for line in lines if line and not line.startswith("#"))

    def match(self, path: str) -> bool:
        """Whether one of the patterns leaves the path out."""
        parts = path.split("/")
        return any(_matches(pattern, parts) for pattern in self._patterns)


def _matches(pattern: str, parts: list[str]) -> bool:
    """Whether the pattern names the file itself or a folder above it."""
    folders_only = pattern.endswith("/")
    wanted = pattern.strip("/").split("/")
    candidates = parts[:-1] if folders_only else parts
    if len(wanted) == 1 and not pattern.startswith("/"):
        return any(fnmatchcase(part, wanted[0]) for part in candidates)
    return len(wanted) <= len(candidates) and all(map(fnmatchcase, candidates, wanted))
