"""The index for the search."""

from __future__ import annotations

from collections.abc import Iterator

from quillpress.anchors import assign_anchors
from quillpress.document import Document


def index_page(page: str, document: Document) -> Iterator[dict[str, str]]:
    """Yield an entry for each section of a page that has text of its own."""
    sections = [section for section in document.sections() if section.text]
    anchors = assign_anchors(section.heading for section in sections)
    for section, anchor in zip(sections, anchors, strict=True):
        yield {
            "page": page,
            "anchor": anchor,
            "title": section.heading.title,
            "text": section.text,
        }
