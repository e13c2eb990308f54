"""What can go wrong between us and the relay."""


class MailhandError(Exception):
    """The base of all errors of this package.

    Attributes:
        temporary: Whether the same thing may well work a moment later.
    """

    temporary = False


class RelayUnavailable(MailhandError):
    """The relay cannot be reached or hung up."""

    temporary = True


class LoginRejected(MailhandError):
    """The relay does not take the credentials."""


class RecipientRefused(MailhandError):
    """The relay does not take mail for a recipient."""


class PoolExhausted(MailhandError):
    """All sessions of a pool are in use."""

    temporary = True
