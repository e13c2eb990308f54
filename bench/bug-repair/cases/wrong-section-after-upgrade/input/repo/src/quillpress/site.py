"""A site: pages that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from quillpress.markup import render_body
from quillpress.parser import parse
from quillpress.search import index_page
from quillpress.toc import DEFAULT_DEPTH, render_toc
from quillpress.xref import Resolver

TEMPLATE = """\
<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
{content}
</body>
</html>
"""


class Site:
    """The pages of a handbook, by name."""

    def __init__(
        self, sources: Mapping[str, str], toc_depth: int = DEFAULT_DEPTH
    ) -> None:
        self._documents = {name: parse(source) for name, source in sources.items()}
        self._toc_depth = toc_depth

    def build(self) -> dict[str, str]:
        """Return the HTML pages by file name.

        Raises:
            BrokenReference: A page refers to something that does not exist.
        """
        resolve = Resolver(self._documents)
        pages = {}
        for name, document in self._documents.items():
            toc = render_toc(document, self._toc_depth)
            body = render_body(document, resolve)
            pages[f"{name}.html"] = TEMPLATE.format(
                title=escape(document.title or name),
                content="\n".join(part for part in (toc, body) if part),
            )
        return pages

    def search_index(self) -> list[dict[str, str]]:
        """Return the entries of the search index, page by page."""
        return [
            entry
            for name, document in self._documents.items()
            for entry in index_page(name, document)
        ]
