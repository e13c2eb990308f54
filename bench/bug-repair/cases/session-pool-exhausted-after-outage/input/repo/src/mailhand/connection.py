"""What this package needs of a connection to a relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who we are."""

    user: str
    password: str = field(repr=False)


class Connection(Protocol):
    """An open connection. Any method but ``close`` may raise an ``OSError``."""

    def login(self, user: str, password: str) -> None:
        """Authenticate.

        Raises:
            LoginRejected: The relay does not take the credentials.
        """

    def deliver(self, sender: str, recipient: str, text: str) -> None:
        """Hand over a message.

        Raises:
            RecipientRefused: The relay does not take mail for the recipient.
        """

    def is_alive(self) -> bool:
        """Return whether the relay still answers."""

    def close(self) -> None:
        """Let go of the connection; it is of no use afterwards."""


Dial = Callable[[], Connection]


def deliver_to_all(
    connection: Connection, sender: str, recipients: Sequence[str], text: str
) -> None:
    """Hand over a message for each of several recipients."""
    for recipient in recipients:
        connection.deliver(sender, recipient, text)
