"""Where tokens come from."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from tokendesk.errors import IssuerError
from tokendesk.tokens import Token

Transport = Callable[[Mapping[str, str]], Awaitable[tuple[int, str]]]
"""Posts a form to the token endpoint; gives the status and the body."""


class Issuer(Protocol):
    """Gives out tokens. May be slow, may fail."""

    async def issue(self, audience: str) -> Token:
        """A new token for the audience."""
        ...


class ClientCredentials:
    """The client credentials grant of OAuth 2.0 (RFC 6749, section 4.4)."""

    def __init__(
        self,
        transport: Transport,
        client_id: str,
        client_secret: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._client_id = client_id
        self._client_secret = client_secret
        self._clock = clock

    async def issue(self, audience: str) -> Token:
        """Ask the endpoint.

        Raises:
            IssuerError: It refused, or what it sent is no token.
        """
        asked_at = self._clock()
        status, body = await self._transport(
            {
                "grant_type": "client_credentials",
                "client_id": self._client_id,
                "client_secret": self._client_secret,
                "audience": audience,
            }
        )
        if status != 200:
            raise IssuerError(audience, f"status {status}")
        try:
            answer = json.loads(body)
            lifetime = float(answer["expires_in"])
            return Token(audience, answer["access_token"], asked_at + lifetime)
        except (KeyError, TypeError, ValueError) as exc:
            raise IssuerError(audience, f"unreadable answer ({exc!r})") from exc
