"""The keys that a score's breakdown may have."""

from __future__ import annotations

from enum import StrEnum


class BreakdownKey(StrEnum):
    """What a score is made of; every value is in [0, 1]."""

    #: Share of the prompts that were completed.
    PROMPTS_COMPLETED = "prompts_completed"
    #: Share of the prompts that passed every gate at the first try.
    GATES_PASSED = "gates_passed"
    #: Share of the hidden acceptance tests that pass.
    HIDDEN_TESTS = "hidden_tests"
    #: Share of the allowed retries that were not needed.
    RETRIES_LEFT = "retries_left"
    #: 1.0 where no try broke a rule, down to 0.0 where each did.
    RULES_KEPT = "rules_kept"
