"""Pieces of Markdown that show somebody else's text, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_codegenie.errors import printable


#: Characters of somebody else's text.
_SHOWN = 300
#: Whatever Markdown, or what GitHub adds to it, could take for markup.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>()#!|~$&@\"']|://|www\.")


def table_head(names: Iterable[str]) -> str:
    """Return the first two lines of a table."""
    names = list(names)
    return table_row(names) + table_row("---" for _ in names)


def table_row(cells: Iterable[str]) -> str:
    """Return a line of a table; the cells are Markdown."""
    return f"| {' | '.join(cells)} |\n"


def as_code(text: str, shown: int = _SHOWN) -> str:
    """Return somebody else's text so that it is shown, whatever it holds.

    As code GitHub looks for no names, issues or emoji in it; as entities no character
    is markup.

    Args:
        text: It becomes one line.
        shown: So many characters of it at most.
    """
    line = printable(" ".join(text.split()))
    if len(line) > shown:
        line = f"{line[:shown]}…"
    if not line:
        return ""
    escaped = _MARKUP.sub(lambda found: _entities(found[0]), line)
    return f"<code>{escaped}</code>"


def _entities(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)
