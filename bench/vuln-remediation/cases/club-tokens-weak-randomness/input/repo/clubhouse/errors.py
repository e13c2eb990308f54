"""The errors of this package."""


class ClubError(Exception):
    """Base of all errors of this package."""


class UnknownMember(ClubError):
    """There is no member with this address."""


class InviteError(ClubError):
    """The code is not that of an open invitation for this address."""


class ResetError(ClubError):
    """The token is not that of an open password reset."""


class SignInError(ClubError):
    """Address, password or PIN are not right."""
