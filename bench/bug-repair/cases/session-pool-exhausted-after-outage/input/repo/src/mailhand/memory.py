"""A relay in memory, for dry runs and tests."""

from __future__ import annotations

from mailhand.errors import LoginRejected, RecipientRefused


class MemoryRelay:
    """Takes every message, but for the recipients in ``refuses``.

    Attributes:
        delivered: ``(sender, recipient, text)`` of what came in.
        open_connections: How many connections are open.
    """

    def __init__(
        self, password: str | None = None, refuses: frozenset[str] = frozenset()
    ) -> None:
        self.password = password
        self.refuses = refuses
        self.delivered: list[tuple[str, str, str]] = []
        self.open_connections = 0

    def dial(self) -> MemoryConnection:
        """Open a connection."""
        self.open_connections += 1
        return MemoryConnection(self)


class MemoryConnection:
    """A connection to a ``MemoryRelay``."""

    def __init__(self, relay: MemoryRelay) -> None:
        self._relay = relay
        self._open = True

    def login(self, user: str, password: str) -> None:
        """Compare the password, if the relay has one."""
        if self._relay.password not in (None, password):
            raise LoginRejected(f"wrong password for {user}")

    def deliver(self, sender: str, recipient: str, text: str) -> None:
        """Keep the message."""
        if not self._open:
            raise ConnectionResetError("connection is closed")
        if recipient in self._relay.refuses:
            raise RecipientRefused(f"no such mailbox: {recipient}")
        self._relay.delivered.append((sender, recipient, text))

    def is_alive(self) -> bool:
        """Return whether the connection is open."""
        return self._open

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        if self._open:
            self._open = False
            self._relay.open_connections -= 1
