"""Says what makes one tree like another."""

from driftmap.compare import compare
from driftmap.excludes import Excludes
from driftmap.listing import Entry, Listing, ListingError, parse
from driftmap.steps import Copy, Delete, Move, Step, Update, render

__all__ = [
    "Copy",
    "Delete",
    "Entry",
    "Excludes",
    "Listing",
    "ListingError",
    "Move",
    "Step",
    "Update",
    "compare",
    "parse",
    "render",
]
