"""From the HTML of a page to a card."""

from dataclasses import dataclass
from html.parser import HTMLParser

MAX_TEXT = 200


@dataclass(frozen=True)
class Card:
    """What is shown for a link; image is the URL of a picture, or None."""

    url: str
    title: str
    description: str = ""
    image: str | None = None


class _HeadParser(HTMLParser):
    """Collects the title and the meta elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.meta: dict[str, str] = {}
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        if tag == "meta":
            values = {name: value or "" for name, value in attrs}
            name = values.get("property") or values.get("name") or ""
            self.meta.setdefault(name.lower(), values.get("content", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data


def read_page(url: str, html: str) -> Card:
    """Return the card of a page; its image is as the page has it, maybe relative."""
    parser = _HeadParser()
    parser.feed(html)
    parser.close()
    meta = parser.meta
    return Card(
        url=url,
        title=_tidy(meta.get("og:title") or parser.title) or url,
        description=_tidy(meta.get("og:description") or meta.get("description", "")),
        image=meta.get("og:image") or None,
    )


def _tidy(text: str) -> str:
    """One line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1].rstrip() + "…"
