"""Messages and how they look on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def one_line(text: str) -> str:
    """Return ``text`` without line breaks, which would start a new header."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Message:
    """A plain text message."""

    sender: str
    recipients: Sequence[str]
    subject: str
    body: str

    def __post_init__(self) -> None:
        if not self.recipients:
            raise ValueError("a message needs a recipient")

    def render(self) -> str:
        """Return the text that goes over the wire."""
        headers = (
            ("From", self.sender),
            ("To", ", ".join(self.recipients)),
            ("Subject", self.subject),
        )
        head = "".join(f"{name}: {one_line(value)}\r\n" for name, value in headers)
        return head + "\r\n" + self.body.replace("\n", "\r\n") + "\r\n"
