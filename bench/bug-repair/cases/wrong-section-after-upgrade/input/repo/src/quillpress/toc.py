"""The table of contents of a page."""

from __future__ import annotations

from quillpress.anchors import assign_anchors
from quillpress.document import Document
from quillpress.markup import link

DEFAULT_DEPTH = 2


def render_toc(document: Document, depth: int = DEFAULT_DEPTH) -> str:
    """Return a list of links to the headings of a page, down to a level.

    The title of the page, its first heading, is left out where it is of level 1.
    Returns the empty string if nothing is left.
    """
    headings = [heading for heading in document.headings if heading.level <= depth]
    entries = list(zip(headings, assign_anchors(headings), strict=True))
    if entries and entries[0][0].level == 1:
        del entries[0]
    if not entries:
        return ""
    lines = ['<ul class="toc">']
    lines += [
        f'<li class="level-{heading.level}">{link(f"#{anchor}", heading.title)}</li>'
        for heading, anchor in entries
    ]
    lines.append("</ul>")
    return "\n".join(lines)
