"""The keys that a score's breakdown may have."""

from __future__ import annotations

from enum import StrEnum


class BreakdownKey(StrEnum):
    """What a score is made of; each value is in [0, 1]."""

    #: Share of the fail-to-pass tests that pass.
    FAIL_TO_PASS = "fail_to_pass"  # noqa: S105 - no password
    #: Share of the pass-to-pass tests that pass.
    PASS_TO_PASS = "pass_to_pass"  # noqa: S105 - no password
    #: 1.0 for a patch about as large as the reference solution, 0.0 for a rewrite.
    SCOPE = "scope"
