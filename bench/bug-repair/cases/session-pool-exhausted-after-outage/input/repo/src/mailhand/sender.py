"""Sends messages, one or many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mailhand.connection import deliver_to_all
from mailhand.errors import MailhandError, RelayUnavailable
from mailhand.message import Message
from mailhand.pool import SessionPool


@dataclass(slots=True)
class BatchReport:
    """What became of the messages of a batch.

    Attributes:
        sent: Messages that the relay took, in order.
        failed: The others, each with its last error, in order.
    """

    sent: list[Message] = field(default_factory=list)
    failed: list[tuple[Message, MailhandError]] = field(default_factory=list)


class Sender:
    """Sends messages over the sessions of a pool."""

    def __init__(self, pool: SessionPool, attempts: int = 3) -> None:
        self._pool = pool
        self._attempts = attempts

    def send(self, message: Message) -> None:
        """Send a message, once.

        Raises:
            MailhandError: The message was not sent, or not to all recipients.
        """
        text = message.render()
        try:
            with self._pool.lease() as connection:
                deliver_to_all(connection, message.sender, message.recipients, text)
        except OSError as exc:
            raise RelayUnavailable(f"the relay hung up: {exc}") from exc

    def send_all(self, messages: Iterable[Message]) -> BatchReport:
        """Send what can be sent."""
        report = BatchReport()
        for message in messages:
            error = self._send_patiently(message)
            if error is None:
                report.sent.append(message)
            else:
                report.failed.append((message, error))
        return report

    def _send_patiently(self, message: Message) -> MailhandError | None:
        """Return the last error, ``None`` if an attempt went well."""
        error: MailhandError | None = None
        for _ in range(self._attempts):
            try:
                self.send(message)
            except MailhandError as exc:
                error = exc
                if not exc.temporary:
                    break
            else:
                return None
        return error
