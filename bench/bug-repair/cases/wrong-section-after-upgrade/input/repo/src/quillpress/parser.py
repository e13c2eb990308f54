"""From Markdown to documents."""

from __future__ import annotations

import re

from quillpress.document import Block, BlockKind, Document, Heading

_HEADING = re.compile(r"(#{1,6})\s+(.*?)(?:\s*\{#([A-Za-z][\w-]*)\})?\s*")
_FENCE = "```"


def parse(source: str) -> Document:
    """Return the document of a page's source."""
    parts: list[Heading | Block] = []
    paragraph: list[str] = []
    lines = iter(source.splitlines())

    def end_paragraph() -> None:
        if paragraph:
            parts.append(Block(BlockKind.PARAGRAPH, "\n".join(paragraph)))
            paragraph.clear()

    for line in lines:
        heading = _HEADING.fullmatch(line)
        if line.startswith(_FENCE):
            end_paragraph()
            code = []
            for code_line in lines:
                if code_line.startswith(_FENCE):
                    break
                code.append(code_line)
            parts.append(Block(BlockKind.CODE, "\n".join(code)))
        elif heading is not None:
            end_paragraph()
            marks, title, anchor = heading.groups()
            parts.append(Heading(len(marks), title, anchor))
        elif line.startswith("- "):
            end_paragraph()
            parts.append(Block(BlockKind.LIST_ITEM, line[2:].strip()))
        elif line.strip():
            paragraph.append(line.strip())
        else:
            end_paragraph()
    end_paragraph()
    return Document(tuple(parts))
