"""The errors of tokendesk."""

from __future__ import annotations


class TokendeskError(Exception):
    """The base of the errors that tokendesk raises."""


class IssuerError(TokendeskError):
    """The issuer did not give a token."""

    def __init__(self, audience: str, reason: str) -> None:
        super().__init__(f"no token for {audience!r}: {reason}")
        self.audience = audience
        self.reason = reason
