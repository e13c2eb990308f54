"""The escapes of quoted values."""

from __future__ import annotations

ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_LETTERS = {character: letter for letter, character in ESCAPES.items()}


def unescape(text: str) -> str:
    """Return ``text`` with its escapes resolved.

    A backslash before any other character stands for itself.
    """
    parts = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            parts.append(character)
            continue
        letter = next(characters, "")
        parts.append(ESCAPES.get(letter, "\\" + letter))
    return "".join(parts)


def escape(text: str) -> str:
    """Return ``text`` such that ``unescape`` gives it back."""
    return "".join(
        "\\" + _LETTERS[character] if character in _LETTERS else character
        for character in text
    )
