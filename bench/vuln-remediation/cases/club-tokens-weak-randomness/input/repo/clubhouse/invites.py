"""Invitations: a code on paper or by mail, and an account for it."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from clubhouse.errors import InviteError
from clubhouse.mail import Outbox
from clubhouse.members import Members

# Without letters that look like digits on paper.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
GROUP = 5
VALID_FOR = timedelta(days=14)


@dataclass(frozen=True)
class _Invite:
    address: str
    until: datetime


class Invites:
    """Open invitations by their codes."""

    def __init__(
        self, members: Members, outbox: Outbox, clock: Callable[[], datetime]
    ) -> None:
        self._members = members
        self._outbox = outbox
        self._clock = clock
        self._open: dict[str, _Invite] = {}
        self._sent = 0

    def send(self, address: str) -> str:
        """Invite somebody; return the code, which is mailed too."""
        self._sent += 1
        now = self._clock()
        code = self._new_code(now)
        self._open[_normal(code)] = _Invite(address.lower(), now + VALID_FOR)
        subject = f"Invitation no. {self._sent}"
        self._outbox.send(address.lower(), subject, f"Code: {code}")
        return code

    def redeem(self, code: str, address: str, password: str) -> None:
        """Open an account for somebody who was invited.

        Raises:
            InviteError: The code is wrong, too old, used, or was sent to another
                address.
            ClubError: The account cannot be opened; the code stays valid.
        """
        invite = self._open.get(_normal(code))
        if invite is None or invite.address != address.lower():
            raise InviteError("this code is not valid")
        if self._clock() > invite.until:
            raise InviteError("this code is too old")
        self._members.add(address, password)
        del self._open[_normal(code)]

    def _new_code(self, now: datetime) -> str:
        rng = random.Random(int(now.timestamp()) + self._sent)
        letters = "".join(rng.choice(ALPHABET) for _ in range(2 * GROUP))
        return f"{letters[:GROUP]}-{letters[GROUP:]}"


def _normal(code: str) -> str:
    """The code as it is looked up, however it was typed."""
    return code.strip().upper().replace("-", "")
