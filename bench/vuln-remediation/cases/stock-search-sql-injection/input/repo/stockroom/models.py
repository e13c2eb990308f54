"""The records that the functions of this package take and return."""

from dataclasses import dataclass

PAGE_SIZE = 20


@dataclass(frozen=True)
class Part:
    """One kind of part, with its stock."""

    sku: str
    name: str
    category: str
    quantity: int
    price_cents: int
    supplier: str
    updated: str


@dataclass(frozen=True)
class Query:
    """What to search for; the defaults find everything.

    Attributes:
        text: Part of the name or beginning of the SKU.
        categories: Categories of which any will do; empty for all.
        supplier: Exact name of the supplier, or None for all.
        max_quantity: Upper bound for the stock, or None for no bound.
        sort: Sort keys with commas between them, each with ``-`` for descending.
        page: Number of the page, from 1.
    """

    text: str = ""
    categories: tuple[str, ...] = ()
    supplier: str | None = None
    max_quantity: int | None = None
    sort: str = "sku"
    page: int = 1


@dataclass(frozen=True)
class Page:
    """One page of results, and how many parts all pages hold."""

    parts: tuple[Part, ...]
    total: int
    number: int

    @property
    def last(self) -> int:
        """Number of the last page; an empty result has one page too."""
        return max(1, -(-self.total // PAGE_SIZE))
