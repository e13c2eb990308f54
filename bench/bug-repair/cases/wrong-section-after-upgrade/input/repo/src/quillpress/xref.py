"""References from page to page: ``[[page#Outer/Inner]]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quillpress.anchors import slugify
from quillpress.document import Document, Heading


class BrokenReference(LookupError):
    """A reference to something that does not exist.

    Attributes:
        reference: What stands between the brackets.
    """

    def __init__(self, reference: str, reason: str) -> None:
        super().__init__(f"[[{reference}]]: {reason}")
        self.reference = reference


def find_heading(document: Document, path: Sequence[str]) -> Heading | None:
    """Return the first heading with a title, below headings with other titles.

    Args:
        document: The page.
        path: Titles from the outermost to that of the heading. Headings in
            between need not be named.
    """
    wanted = [title.strip().casefold() for title in path]
    above: list[Heading] = []
    for heading in document.headings:
        above = [outer for outer in above if outer.level < heading.level]
        above.append(heading)
        if heading.title.casefold() != wanted[-1]:
            continue
        titles = iter(outer.title.casefold() for outer in above[:-1])
        if all(title in titles for title in wanted[:-1]):
            return heading
    return None


class Resolver:
    """Knows what the references of a site lead to."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents

    def __call__(self, reference: str) -> tuple[str, str]:
        """Return the target and the label of a reference.

        Raises:
            BrokenReference: There is no such page or section.
        """
        page, _, path = reference.partition("#")
        page = page.strip()
        if page not in self._documents:
            raise BrokenReference(reference, f"there is no page {page!r}")
        document = self._documents[page]
        if not path:
            return f"{page}.html", document.title or page
        heading = find_heading(document, path.split("/"))
        if heading is None:
            raise BrokenReference(reference, f"no such section on {page!r}")
        anchor = heading.custom_anchor or slugify(heading.title)
        return f"{page}.html#{anchor}", heading.title
