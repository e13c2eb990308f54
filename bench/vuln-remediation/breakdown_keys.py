"""The keys that a score's breakdown may have."""

from __future__ import annotations

from enum import StrEnum


class BreakdownKey(StrEnum):
    """What a score is made of; every value is in [0, 1]."""

    #: Share of the exploits (the fail-to-pass tests) that are blocked.
    EXPLOIT_BLOCKED = "exploit_blocked"
    #: Share of the pass-to-pass tests that still pass.
    BEHAVIOUR_KEPT = "behaviour_kept"
    #: 1.0 for a change about as large as the reference's, 0.0 for a sprawling one.
    CHANGE_SCOPE = "change_scope"
