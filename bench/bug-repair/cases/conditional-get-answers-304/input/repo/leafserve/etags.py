"""Entity tags."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

_TAG = re.compile(r'\s*(W/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)')


@dataclass(frozen=True, slots=True)
class EntityTag:
    """An entity tag."""

    opaque: str
    weak: bool = False

    def matches_strongly(self, other: EntityTag) -> bool:
        """Return whether both stand for the very same bytes."""
        return self == other and not self.weak

    def matches_weakly(self, other: EntityTag) -> bool:
        """Return whether one is as good as the other for a reader."""
        return self.opaque == other.opaque

    def __str__(self) -> str:
        return f'{"W/" if self.weak else ""}"{self.opaque}"'


def tag_of(content: bytes, media_type: str) -> EntityTag:
    """Return the tag of a page."""
    digest = hashlib.sha256(media_type.encode() + b"\0" + content)
    return EntityTag(digest.hexdigest()[:24])


def parse_tags(text: str) -> list[EntityTag] | None:
    """Return the tags of a list, ``None`` for ``*``, which stands for any.

    What comes after something that is no tag is left out.
    """
    if text.strip() == "*":
        return None
    tags = []
    position = 0
    while match := _TAG.match(text, position):
        tags.append(EntityTag(match[2], weak=match[1] is not None))
        position = match.end()
    return tags


def any_weak_match(tag: EntityTag, candidates: Iterable[EntityTag] | None) -> bool:
    """Return whether a tag matches one of a list by the weak comparison."""
    if candidates is None:
        return True
    return any(tag.matches_weakly(candidate) for candidate in candidates)


def any_strong_match(tag: EntityTag, candidates: Iterable[EntityTag] | None) -> bool:
    """Return whether a tag matches one of a list by the strong comparison."""
    if candidates is None:
        return True
    return any(tag.matches_strongly(candidate) for candidate in candidates)
