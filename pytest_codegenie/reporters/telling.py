"""What a test case says of its result: in a session, and in a report made later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_codegenie.errors import relative
from pytest_codegenie.models import CaseResult


#: Why an ambiguous case that was not solved is no failure.
AMBIGUOUS = "ambiguous case: reported, never counted"
_MESSAGE_LINES = 40
#: Where a result comes from that is not all of its own run.
_ORIGINS = {
    "patch-cache": "cached     the patch; no agent worked in this run",
    "verdict-cache": "cached     patch and verdict; --codegenie-cache refresh runs it, "
    "with its logs",
    "regraded": "graded     again; no agent worked in this run",
}


def result_properties(
    result: CaseResult, artifacts: Path | None = None
) -> list[tuple[str, object]]:
    """Return a result as JUnit properties of its test case."""
    score = result.score
    properties: list[tuple[str, object]] = [
        ("score", score.score),
        ("passed", str(score.passed).lower()),
        *((f"breakdown.{key}", value) for key, value in score.breakdown.items()),
        *((f"failure_mode.{mode.code}", mode.severity) for mode in score.failure_modes),
        ("agent", result.agent),
        ("run_id", result.run_id),
        ("provenance", result.provenance),
    ]
    if result.output is not None:
        agent = result.output.agent
        optional = {
            "cost_usd": agent.cost_usd,
            "tokens": agent.tokens_used,
            "model": agent.model_name,
        }
        # What an agent does not say is left out: it is unknown, not 0.
        properties += [(k, v) for k, v in optional.items() if v is not None]
    if artifacts is not None:
        properties.append(("artifacts", relative(artifacts)))
    return properties


def describe(result: CaseResult, artifacts: Path | None = None) -> list[str]:
    """Return what a failing item shows, the most telling line first."""
    score = result.score
    codes = ", ".join(mode.code for mode in score.failure_modes) or "not passed"
    first_line = result.message.strip().partition("\n")[0]
    lines = [f"{codes}: {first_line}" if first_line else codes]
    judged = "not judged" if result.outcome == "error" else f"score {score.score:.3f}"
    lines.append(f"{judged}  ({', '.join(_facts(result))})")
    if result.provenance in _ORIGINS:
        lines.append(_ORIGINS[result.provenance])
    if score.breakdown:
        lines.append(
            "breakdown  "
            + "  ".join(f"{k} {v:.3f}" for k, v in score.breakdown.items())
        )
    lines += [
        f"{mode.severity:<9}  {mode.code}" + (f": {mode.detail}" if mode.detail else "")
        for mode in score.failure_modes
        if mode.detail != result.message
    ]
    rest = result.message.strip().splitlines()[1:]
    if len(rest) > _MESSAGE_LINES:
        rest = [
            f"[{len(rest) - _MESSAGE_LINES} lines left out]",
            *rest[-_MESSAGE_LINES:],
        ]
    lines += rest
    if artifacts is not None:
        lines.append(f"artifacts  {relative(artifacts)}")
    if result.kept_workspace:
        lines.append(f"workspace  {result.kept_workspace}")
    return lines


def _facts(result: CaseResult) -> Iterator[str]:
    yield f"agent {result.agent}"
    for phase, spent in result.timings.items():
        yield f"{phase} {spent:.1f} s"
