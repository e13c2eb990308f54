"""Anchors: the names by which links know headings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quillpress.document import Heading

_NOT_IN_ANCHORS = re.compile(r"[^a-z0-9]+")


def slugify(title: str) -> str:
    """Return the anchor that a title stands for: ``Two words!`` is ``two-words``."""
    return _NOT_IN_ANCHORS.sub("-", title.lower()).strip("-") or "section"


def assign_anchors(headings: Iterable[Heading]) -> list[str]:
    """Return an anchor for each of the headings of a page, all different.

    Anchors that the source asks for go first, the others are numbered from the
    second one on.
    """
    headings = list(headings)
    taken = {heading.custom_anchor for heading in headings if heading.custom_anchor}
    anchors = []
    for heading in headings:
        anchor = heading.custom_anchor or _first_free(slugify(heading.title), taken)
        taken.add(anchor)
        anchors.append(anchor)
    return anchors


def _first_free(slug: str, taken: set[str]) -> str:
    anchor, number = slug, 1
    while anchor in taken:
        number += 1
        anchor = f"{slug}-{number}"
    return anchor
