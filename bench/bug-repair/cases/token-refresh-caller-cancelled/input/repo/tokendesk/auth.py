"""Outgoing requests with a token, and a second try when it is not accepted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tokendesk.broker import TokenBroker

UNAUTHORIZED = 401


class Response(Protocol):
    """As much of a response as is needed here."""

    @property
    def status(self) -> int:
        """The status code."""
        ...


Send = Callable[[Mapping[str, str]], Awaitable[Response]]
"""Sends the request with the given headers added."""


@dataclass(frozen=True, slots=True)
class Authorized:
    """Sends requests to one audience."""

    broker: TokenBroker
    audience: str

    async def send(self, send: Send) -> Response:
        """Send with a token; once more with a new one after a 401."""
        token = await self.broker.token(self.audience)
        response = await send({"Authorization": token.header})
        if response.status != UNAUTHORIZED:
            return response
        self.broker.reject(token)
        token = await self.broker.token(self.audience)
        return await send({"Authorization": token.header})
