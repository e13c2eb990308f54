"""The summary that pytest's terminal shows after a run."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pytest_codegenie.evidence import Group


_COLUMNS = 80
_SEVERITIES = ("block", "warn", "info")


def summary_lines(groups: Sequence[Group]) -> list[str]:
    """Return a few lines for each task class and agent, at most 80 columns wide.

    It is no ``Reporter``: pytest shows it under each run, whatever is asked for.
    """
    lines: list[str] = []
    for group in groups:
        lines += _group_lines(group)
    return [part for line in lines for part in _wrapped(line)]


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        line,
        _COLUMNS,
        subsequent_indent=" " * 11,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _group_lines(group: Group) -> list[str]:
    counted = group.passed + group.failed
    lines = [
        f"{group.task_class} [{group.agent}]",
        f"  cases    {_counts(group, counted)}",
        f"  score    {_score(group)}",
    ]
    means = group.breakdown_means()
    if means:
        shown = "  ".join(f"{key} {value:.3f}" for key, value in means.items())
        lines.append(f"  means    {shown}")
    for severity in _SEVERITIES:
        codes = [
            f"{code} x{count}"
            for (code, own), count in sorted(group.failure_modes.items())
            if own == severity
        ]
        if codes:
            lines.append(f"  {severity:<8} {', '.join(codes)}")
    lines.append(f"  cost     {_cost(group)}; time {group.seconds:.1f} s")
    return lines


def _counts(group: Group, counted: int) -> str:
    parts = [f"{group.passed} of {counted} passed"]
    if group.errors:
        parts.append(f"{group.errors} not judged (errors)")
    if group.ambiguous:
        parts.append(f"{group.ambiguous} ambiguous, not counted")
    return "; ".join(parts)


def _score(group: Group) -> str:
    mean = group.mean_score
    if mean is None:
        return "none: no case was judged"
    deviation = group.score_stddev
    bound = group.bound()
    shown_deviation = "n/a" if deviation is None else f"{deviation:.3f}"
    shown_bound = (
        f"n/a ({bound.note})"
        if bound.value is None
        else f"{bound.value:.3f} ({bound.note})"
    )
    return f"mean {mean:.3f}  stddev {shown_deviation}  95% lower bound {shown_bound}"


def _cost(group: Group) -> str:
    if group.cost_usd is None:
        return "unknown (no agent reported one)"
    unpriced = f", {group.unpriced} results without" if group.unpriced else ""
    return f"{group.cost_usd:.4f} USD as reported by the agent{unpriced}"
