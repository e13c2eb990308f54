"""A rubric's answer, taken as hostile input."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping

from pydantic import ValidationError

from pytest_codegenie.errors import RubricError
from pytest_codegenie.errors import did_you_mean
from pytest_codegenie.models import BenchScore


MALFORMED = "rubric.malformed_output"
TIMEOUT = "rubric.timeout"
UNKNOWN_KEY = "rubric.unknown_breakdown_key"
UNKNOWN_MODE = "rubric.unknown_failure_mode"


def validate_answer(
    answer: str, *, breakdown_keys: Collection[str], taxonomy: Mapping[str, str]
) -> BenchScore:
    """Return the score that a rubric's answer is.

    Args:
        answer: JSON, as the rubric's process wrote it.
        breakdown_keys: The keys that its breakdown may have.
        taxonomy: The codes that its failure modes may have, with their severities.

    Raises:
        RubricError: It is none; the code says in which way.
    """
    try:
        # Strict: "yes" is no true, and "1" no number.
        score = BenchScore.model_validate_json(answer, strict=True)
    except ValidationError as exc:
        error = exc.errors()[0]
        place = ".".join(str(part) for part in error["loc"])
        raise RubricError(
            MALFORMED,
            f"the rubric's answer is no BenchScore: {place + ': ' if place else ''}"
            f"{error['msg']}",
        ) from None
    for key in score.breakdown:
        if key not in breakdown_keys:
            raise RubricError(
                UNKNOWN_KEY,
                f"the rubric's breakdown has the key {key[:80]!r}"
                f"{did_you_mean(key, breakdown_keys)}; add it to BreakdownKey in "
                "breakdown_keys.py or correct the rubric",
            )
    for mode in score.failure_modes:
        severity = taxonomy.get(mode.code)
        if severity is None:
            raise RubricError(
                UNKNOWN_MODE,
                f"the rubric gives the failure mode {mode.code[:80]!r}"
                f"{did_you_mean(mode.code, taxonomy)}; add it to failure_modes.yaml or "
                "correct the rubric",
            )
        if mode.severity != severity:
            raise RubricError(
                MALFORMED,
                f"the rubric gives {mode.code!r} the severity {mode.severity!r}, but "
                f"failure_modes.yaml says {severity!r}; make them equal",
            )
    return score
