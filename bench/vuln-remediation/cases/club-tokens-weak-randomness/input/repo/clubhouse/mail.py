"""Mails that wait to be sent."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Mail:
    """One mail; date is what its Date header will say, in whole seconds."""

    to: str
    subject: str
    text: str
    date: datetime


class Outbox:
    """Collects mails; the application takes them from here."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self.mails: list[Mail] = []

    def send(self, to: str, subject: str, text: str) -> None:
        date = self._clock().replace(microsecond=0)
        self.mails.append(Mail(to, subject, text, date))

    def last_to(self, address: str) -> Mail:
        """Return the newest mail to an address; LookupError if there is none."""
        for mail in reversed(self.mails):
            if mail.to == address:
                return mail
        raise LookupError(f"no mail to {address}")
