"""Patterns for paths; ``docs/owners-file.md`` has the syntax."""

import re
from collections.abc import Iterator

from stewards.errors import PatternError


class Pattern:
    """A compiled pattern.

    Raises:
        PatternError: The text does not follow the syntax.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._regex = re.compile(_path_regex(_segments(text)), re.DOTALL)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def matches(self, path: str) -> bool:
        """Tell whether the pattern matches a path relative to the root."""
        return self._regex.fullmatch(path) is not None


def _segments(text: str) -> list[str]:
    """Split a pattern at its slashes and write out what its ends stand for."""
    if not text.strip("/"):
        raise PatternError(f"{text!r} is not a pattern")
    anchored = text.startswith("/")
    segments = text.removeprefix("/").split("/")
    if not anchored:
        segments.insert(0, "**")
    if segments[-1] == "":
        segments[-1] = "**"
    if "" in segments:
        raise PatternError(f"{text!r} has two slashes in a row")
    return segments


def _path_regex(segments: list[str]) -> str:
    *directories, last = segments
    parts = [
        "(?:[^/]+/)*" if segment == "**" else _segment_regex(segment) + "/"
        for segment in directories
    ]
    parts.append("[^/]+(?:/[^/]+)*" if last == "**" else _segment_regex(last))
    return "".join(parts)


def _segment_regex(segment: str) -> str:
    return "".join(_regex_parts(segment))


def _regex_parts(segment: str) -> Iterator[str]:
    """Yield a regular expression for each character or wildcard."""
    characters = iter(segment)
    after_star = False
    for character in characters:
        if character == "*" and after_star:
            raise PatternError(f"** has to stand between slashes, not in {segment!r}")
        after_star = character == "*"
        if character == "*":
            yield "[^/]*"
        elif character == "?":
            yield "[^/]"
        elif character == "[":
            yield _class_regex(segment, characters)
        elif character == "\\":
            yield re.escape(_next(segment, characters))
        else:
            yield re.escape(character)


def _class_regex(segment: str, characters: Iterator[str]) -> str:
    """Read the rest of a ``[...]``, after its first bracket."""
    members: list[str] = []
    negated = False
    character = _next(segment, characters)
    if character == "!":
        negated = True
        character = _next(segment, characters)
    while character != "]" or not members:
        if character == "\\":
            character = _next(segment, characters)
        members.append(re.escape(character))
        character = _next(segment, characters)
        if character == "-":
            members.append("-")
            character = _next(segment, characters)
            if character == "]":
                members[-1] = re.escape("-")
    expression = f"(?!/)[{'^' if negated else ''}{''.join(members)}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise PatternError(f"{segment!r} has a class that makes no sense") from error
    return expression


def _next(segment: str, characters: Iterator[str]) -> str:
    try:
        return next(characters)
    except StopIteration:
        raise PatternError(f"{segment!r} ends too early") from None
