"""Hands out tokens, and fetches each only once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

from tokendesk.issuers import Issuer
from tokendesk.stats import Stats
from tokendesk.tokens import Token


class TokenBroker:
    """The tokens of one process, by audience.

    Args:
        issuer: Where new tokens come from.
        leeway_seconds: How long before its expiry a token is no longer handed out.
        clock: Seconds, on the clock by which the issuer dates its tokens.
    """

    def __init__(
        self,
        issuer: Issuer,
        *,
        leeway_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._leeway_seconds = leeway_seconds
        self._clock = clock
        self._held: dict[str, Token] = {}
        self._pending: dict[str, asyncio.Future[Token]] = {}
        self.stats = Stats()

    async def token(self, audience: str) -> Token:
        """A token that can be used now.

        Raises:
            Exception: Whatever the issuer raises.
        """
        held = self._held.get(audience)
        if held is not None and held.usable(self._clock(), self._leeway_seconds):
            self.stats.reused += 1
            return held
        pending = self._pending.get(audience)
        if pending is not None:
            self.stats.joined += 1
            return await pending
        return await self._fetch(audience)

    async def warm(self, audiences: Iterable[str]) -> None:
        """Have tokens for all the audiences at hand."""
        await asyncio.gather(*(self.token(audience) for audience in audiences))

    def reject(self, token: Token) -> None:
        """Do not hand out ``token`` again."""
        if self._held.get(token.audience) == token:
            del self._held[token.audience]

    async def _fetch(self, audience: str) -> Token:
        """Ask the issuer, and share the outcome with those who join meanwhile."""
        pending = asyncio.get_running_loop().create_future()
        self._pending[audience] = pending
        try:
            token = await self._issuer.issue(audience)
        except asyncio.CancelledError:
            pending.cancel()
            raise
        except Exception as exc:
            pending.set_exception(exc)
            pending.exception()  # Retrieved, even where nobody joined.
            raise
        else:
            self._held[audience] = token
            self.stats.issued += 1
            pending.set_result(token)
            return token
        finally:
            del self._pending[audience]
