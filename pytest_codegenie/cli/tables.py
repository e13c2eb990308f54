"""Plain tables: columns as wide as what is in them, nothing cut off."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence

from pytest_codegenie.errors import printable


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()
) -> Iterator[str]:
    """Yield the lines.

    Args:
        head: Names of the columns.
        rows: A cell for each; somebody else's text may be in it.
        right: Names of columns of numbers.
    """
    lines = [tuple(head), *(tuple(map(printable, row)) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(line, widths, head, strict=True)
        )
        yield "  ".join(cells).rstrip()
