"""A small generator of handbooks."""

from quillpress.document import Block, BlockKind, Document, Heading
from quillpress.parser import parse
from quillpress.site import Site
from quillpress.toc import render_toc
from quillpress.xref import BrokenReference

__all__ = [
    "Block",
    "BlockKind",
    "BrokenReference",
    "Document",
    "Heading",
    "Site",
    "parse",
    "render_toc",
]
