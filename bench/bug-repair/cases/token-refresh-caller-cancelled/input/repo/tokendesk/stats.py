"""Counters for a metrics page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Stats:
    """How calls for a token were answered since the broker was made."""

    reused: int = 0
    """Answered with a token at hand."""
    joined: int = 0
    """Waited for a request that was under way."""
    issued: int = 0
    """Tokens that the issuer gave."""

    def as_lines(self, prefix: str = "tokendesk") -> list[str]:
        """One ``name value`` line for each counter."""
        return [
            f"{prefix}_reused {self.reused}",
            f"{prefix}_joined {self.joined}",
            f"{prefix}_issued {self.issued}",
        ]
