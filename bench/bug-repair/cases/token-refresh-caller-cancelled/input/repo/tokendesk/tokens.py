"""A token and how long it can be used."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Token:
    """What proves to ``audience`` who we are.

    ``expires_at`` is on the clock of the broker, in seconds.
    """

    audience: str
    secret: str = field(repr=False)
    expires_at: float

    def usable(self, now: float, leeway_seconds: float = 0.0) -> bool:
        """Whether the token outlives ``now`` by more than the leeway."""
        return self.expires_at - now > leeway_seconds

    @property
    def header(self) -> str:
        """The value of an ``Authorization`` header."""
        return f"Bearer {self.secret}"
