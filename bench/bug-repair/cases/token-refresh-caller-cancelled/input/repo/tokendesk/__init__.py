"""Access tokens, fetched once and shared."""

from tokendesk.broker import TokenBroker
from tokendesk.errors import IssuerError, TokendeskError
from tokendesk.tokens import Token

__all__ = ["IssuerError", "Token", "TokenBroker", "TokendeskError"]
