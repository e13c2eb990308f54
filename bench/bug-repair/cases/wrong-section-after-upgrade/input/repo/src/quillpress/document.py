"""Pages as the parser leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Attributes:
        level: 1 to 6.
        title: The text.
        custom_anchor: The anchor that the source asks for.
    """

    level: int
    title: str
    custom_anchor: str | None = None


class BlockKind(Enum):
    """What a block of text is."""

    PARAGRAPH = "paragraph"
    LIST_ITEM = "list item"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text."""

    kind: BlockKind
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it, up to the next heading."""

    heading: Heading
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The text without the heading's, on one line."""
        return " ".join(" ".join(block.text.split()) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Document:
    """A page: headings and blocks in the order of the source."""

    parts: tuple[Heading | Block, ...]

    @property
    def headings(self) -> tuple[Heading, ...]:
        """All headings, down the page."""
        return tuple(part for part in self.parts if isinstance(part, Heading))

    @property
    def title(self) -> str:
        """The first heading's text, empty without one."""
        return self.headings[0].title if self.headings else ""

    def sections(self) -> Iterator[Section]:
        """Yield the sections; what stands before the first heading is left out."""
        heading: Heading | None = None
        blocks: list[Block] = []
        for part in self.parts:
            if isinstance(part, Block):
                blocks.append(part)
                continue
            if heading is not None:
                yield Section(heading, tuple(blocks))
            heading, blocks = part, []
        if heading is not None:
            yield Section(heading, tuple(blocks))
