"""Listings of a tree: what is in it, by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class ListingError(ValueError):
    """A listing that cannot be read; says in which line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file."""

    digest: str
    size: int
    path: str


class Listing:
    """The files of one tree.

    Raises:
        ListingError: Two entries have the same path.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_path: dict[str, Entry] = {}
        for entry in entries:
            if entry.path in self._by_path:
                raise ListingError(f"{entry.path!r} is listed twice")
            self._by_path[entry.path] = entry

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    @property
    def total_size(self) -> int:
        """The size of all files in bytes."""
        return sum(entry.size for entry in self)


def parse(text: str) -> Listing:
    """Read a listing.

    Raises:
        ListingError: A line has not the three fields, or a path is listed twice.
    """
    lines = enumerate(text.split("\n"), start=1)
    return Listing(_entry(number, line) for number, line in lines if line)


def dump(listing: Listing) -> str:
    """The listing as text, sorted by path."""
    entries = sorted(listing, key=lambda entry: entry.path)
    return "".join(f"{e.digest}\t{e.size}\t{e.path}\n" for e in entries)


def _entry(number: int, line: str) -> Entry:
    fields = line.removesuffix("\r").split("\t", 2)
    if len(fields) != 3 or not fields[1].isdecimal():
        raise ListingError(f"line {number}: expected digest, size and path: {line!r}")
    digest, size, path = fields
    if path.startswith("/") or not path:
        raise ListingError(f"line {number}: the path is not below the root: {path!r}")
    return Entry(digest, int(size), path)
