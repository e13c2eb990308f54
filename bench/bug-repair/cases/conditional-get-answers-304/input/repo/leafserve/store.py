"""Published pages."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from leafserve.etags import EntityTag, tag_of


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        content: The bytes.
        media_type: What they are.
        modified: When it was published, in whole seconds.
    """

    content: bytes
    media_type: str
    modified: datetime

    @cached_property
    def tag(self) -> EntityTag:
        """The entity tag."""
        return tag_of(self.content, self.media_type)


class Store:
    """The pages by path."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}

    def publish(self, path: str, content: bytes, modified: datetime) -> Page:
        """Put a page in place, instead of the one that may be there.

        Raises:
            ValueError: The path is not absolute, or the time has no time zone.
        """
        if not path.startswith("/"):
            raise ValueError(f"the path has to begin with a slash: {path!r}")
        if modified.tzinfo is None:
            raise ValueError(f"{modified!r} has no time zone")
        media_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
        moment = modified.astimezone(UTC).replace(microsecond=0)
        self._pages[path] = page = Page(content, media_type, moment)
        return page

    def withdraw(self, path: str) -> None:
        """Take a page away, if it is there."""
        self._pages.pop(path, None)

    def get(self, path: str) -> Page | None:
        """Return the page at a path."""
        return self._pages.get(path)
