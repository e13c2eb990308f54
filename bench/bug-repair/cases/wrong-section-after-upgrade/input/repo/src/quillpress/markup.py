"""From documents to HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from quillpress.anchors import assign_anchors
from quillpress.document import Block, BlockKind, Document, Heading

_REFERENCE = re.compile(r"\[\[([^\[\]]+)\]\]")

#: Returns the target and the label of a link for a reference.
Resolve = Callable[[str], tuple[str, str]]


def link(target: str, label: str) -> str:
    """Return a link."""
    return f'<a href="{escape(target)}">{escape(label)}</a>'


def render_inline(text: str, resolve: Resolve) -> str:
    """Return the HTML of a text with references."""
    parts = []
    position = 0
    for match in _REFERENCE.finditer(text):
        parts.append(escape(text[position : match.start()]))
        parts.append(link(*resolve(match[1])))
        position = match.end()
    parts.append(escape(text[position:]))
    return "".join(parts)


def render_heading(heading: Heading, anchor: str) -> str:
    """Return the HTML of a heading."""
    tag = f"h{heading.level}"
    return f'<{tag} id="{anchor}">{escape(heading.title)}</{tag}>'


def render_block(block: Block, resolve: Resolve) -> str:
    """Return the HTML of a block; list items come without their list."""
    if block.kind is BlockKind.CODE:
        return f"<pre><code>{escape(block.text)}</code></pre>"
    tag = "li" if block.kind is BlockKind.LIST_ITEM else "p"
    return f"<{tag}>{render_inline(block.text, resolve)}</{tag}>"


def render_body(document: Document, resolve: Resolve) -> str:
    """Return the HTML of a page's text."""
    anchors = iter(assign_anchors(document.headings))
    lines = []
    in_list = False
    for part in document.parts:
        is_item = isinstance(part, Block) and part.kind is BlockKind.LIST_ITEM
        if is_item != in_list:
            lines.append("<ul>" if is_item else "</ul>")
            in_list = is_item
        if isinstance(part, Heading):
            lines.append(render_heading(part, next(anchors)))
        else:
            lines.append(render_block(part, resolve))
    if in_list:
        lines.append("</ul>")
    return "\n".join(lines)
