"""New passwords for members who forgot theirs."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from clubhouse.errors import ResetError
from clubhouse.mail import Outbox
from clubhouse.members import Members
from clubhouse.tokens import new_token

VALID_FOR = timedelta(hours=1)


@dataclass(frozen=True)
class _Request:
    token: str
    until: datetime


class PasswordResets:
    """Open requests, at most one for each member."""

    def __init__(
        self, members: Members, outbox: Outbox, clock: Callable[[], datetime]
    ) -> None:
        self._members = members
        self._outbox = outbox
        self._clock = clock
        self._open: dict[str, _Request] = {}

    def request(self, address: str) -> None:
        """Mail a token to a member; an older one is void.

        Nothing happens for an address without an account, and the caller cannot
        tell: otherwise one could find out who is a member.
        """
        if address not in self._members:
            return
        token = new_token()
        self._open[address.lower()] = _Request(token, self._clock() + VALID_FOR)
        self._outbox.send(address.lower(), "Your new password", f"Token: {token}")

    def confirm(self, address: str, token: str, password: str) -> None:
        """Set a new password.

        Raises:
            ResetError: The token is wrong, too old or used.
        """
        request = self._open.get(address.lower())
        if request is None or request.token != token:
            raise ResetError("this token is not valid")
        if self._clock() > request.until:
            raise ResetError("this token is too old")
        self._members.set_password(address, password)
        del self._open[address.lower()]
