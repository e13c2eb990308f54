"""Command templates: from a printer's configuration to a line for the shell."""

import string
from collections.abc import Mapping
from pathlib import Path

from labelpress.shell import quote

PLACEHOLDERS = frozenset({"path", "title", "copies", "options"})


class CommandTemplate:
    """A shell command with placeholders; see ``docs/commands.md``."""

    def __init__(self, text: str) -> None:
        if not text.strip():
            raise ValueError("the command is empty")
        try:
            names = {name for _, name, _, _ in string.Formatter().parse(text)}
        except ValueError as error:
            raise ValueError(f"the command cannot be read: {error}") from error
        unknown = sorted(str(name) for name in names - PLACEHOLDERS - {None})
        if unknown:
            known = ", ".join(sorted(PLACEHOLDERS))
            raise ValueError(f"no such placeholder: {unknown[0]!r} (known: {known})")
        if "path" not in names:
            raise ValueError("the command does not use {path}")
        self.text = text

    def render(
        self, *, path: Path, title: str, copies: int, options: Mapping[str, str]
    ) -> str:
        """Return the line for the shell that prints the file at ``path``."""
        return self.text.format(
            path=quote(str(path)),
            title=quote(title),
            copies=copies,
            options=render_options(options),
        )


def render_options(options: Mapping[str, str]) -> str:
    """Return ``-o name=value`` for each option, in the order of names."""
    return " ".join(f"-o {name}={options[name].strip()}" for name in sorted(options))
