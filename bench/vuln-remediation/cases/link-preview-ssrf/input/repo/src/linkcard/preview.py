"""Cards for links, remembered for a while."""

import time
from collections.abc import Callable
from dataclasses import replace

from linkcard.errors import FetchError, LinkcardError
from linkcard.fetch import Fetcher
from linkcard.page import Card, read_page
from linkcard.urls import Target, join


class LinkPreviewer:
    """Makes cards, and keeps each for ``lifetime`` seconds."""

    def __init__(
        self,
        fetcher: Fetcher,
        *,
        lifetime: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._lifetime = lifetime
        self._clock = clock
        self._cards: dict[str, tuple[float, Card]] = {}

    def preview(self, url: str) -> Card:
        """Return the card for a link.

        Raises:
            LinkcardError: There is none; the class says why. Not remembered.
        """
        now = self._clock()
        kept = self._cards.get(url)
        if kept is not None and now - kept[0] < self._lifetime:
            return kept[1]
        card = self._make(url)
        self._cards[url] = (now, card)
        return card

    def _make(self, url: str) -> Card:
        target, response = self._fetcher.fetch(url)
        kind, _, parameters = response.headers.get("content-type", "").partition(";")
        if kind.strip().lower() != "text/html":
            raise FetchError(f"{target.url!r} is not a page")
        html = response.body.decode(_charset(parameters), "replace")
        card = read_page(target.url, html)
        return replace(card, image=self._picture(target, card.image))

    def _picture(self, target: Target, reference: str | None) -> str | None:
        """Return the URL of a picture, or None where there is none behind it."""
        if reference is None:
            return None
        url = join(target, reference)
        try:
            _, response = self._fetcher.fetch(url, "HEAD")
        except LinkcardError:
            return None
        kind = response.headers.get("content-type", "")
        return url if kind.startswith("image/") else None


def _charset(parameters: str) -> str:
    name = parameters.strip().lower().removeprefix("charset=").strip('"')
    return name if name in ("utf-8", "iso-8859-1", "windows-1252") else "utf-8"
