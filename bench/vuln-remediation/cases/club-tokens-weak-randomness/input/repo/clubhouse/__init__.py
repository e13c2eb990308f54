"""The members' area of a small club."""

from clubhouse.club import Club
from clubhouse.errors import (
    ClubError,
    InviteError,
    ResetError,
    SignInError,
    UnknownMember,
)
from clubhouse.mail import Mail, Outbox
from clubhouse.raffle import draw, split

__all__ = [
    "Club",
    "ClubError",
    "InviteError",
    "Mail",
    "Outbox",
    "ResetError",
    "SignInError",
    "UnknownMember",
    "draw",
    "split",
]
