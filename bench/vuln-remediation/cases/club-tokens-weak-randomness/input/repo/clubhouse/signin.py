"""Signing in: first the password, then a PIN that comes by mail."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from clubhouse.errors import SignInError
from clubhouse.mail import Outbox
from clubhouse.members import Members
from clubhouse.tokens import new_pin

VALID_FOR = timedelta(minutes=10)
MAX_ATTEMPTS = 5


@dataclass
class _Attempt:
    pin: str
    until: datetime
    left: int = MAX_ATTEMPTS


class SignIn:
    """Those who are between the two steps."""

    def __init__(
        self, members: Members, outbox: Outbox, clock: Callable[[], datetime]
    ) -> None:
        self._members = members
        self._outbox = outbox
        self._clock = clock
        self._attempts: dict[str, _Attempt] = {}

    def start(self, address: str, password: str) -> None:
        """Check the password and mail a PIN.

        Raises:
            SignInError: There is no such member, or it is not the password.
        """
        if not self._members.check_password(address, password):
            raise SignInError("address and password do not fit")
        pin = new_pin()
        self._attempts[address.lower()] = _Attempt(pin, self._clock() + VALID_FOR)
        self._outbox.send(address.lower(), "Your PIN", f"PIN: {pin}")

    def finish(self, address: str, pin: str) -> None:
        """Check the PIN; returns if the member may enter.

        Raises:
            SignInError: The PIN is wrong, too old or used, or there have been too
                many attempts.
        """
        attempt = self._attempts.get(address.lower())
        if attempt is None or self._clock() > attempt.until:
            raise SignInError("start again, please")
        if attempt.pin != pin.strip():
            attempt.left -= 1
            if attempt.left == 0:
                del self._attempts[address.lower()]
            raise SignInError("the PIN is wrong")
        del self._attempts[address.lower()]
