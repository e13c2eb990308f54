"""All parts of the members' area together."""

from collections.abc import Callable
from datetime import UTC, datetime

from clubhouse.invites import Invites
from clubhouse.mail import Outbox
from clubhouse.members import Members
from clubhouse.reset import PasswordResets
from clubhouse.signin import SignIn

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Club:
    """The members' area of one club.

    Attributes:
        members: The accounts.
        outbox: The mails that the application has to send.
        invites: Invitations, the way to an account.
        resets: New passwords for those who forgot theirs.
        sign_in: Password and PIN.
    """

    def __init__(self, *, clock: Clock = utc_now, hash_rounds: int = 600_000) -> None:
        self.members = Members(hash_rounds)
        self.outbox = Outbox(clock)
        self.invites = Invites(self.members, self.outbox, clock)
        self.resets = PasswordResets(self.members, self.outbox, clock)
        self.sign_in = SignIn(self.members, self.outbox, clock)
