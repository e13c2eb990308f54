"""The summary that pytest's terminal shows after a run."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pytest_codegenie.evidence import Group
from pytest_codegenie.reporters.rows import bound_of
from pytest_codegenie.reporters.rows import cases_of
from pytest_codegenie.reporters.rows import recalled_of
from pytest_codegenie.reporters.rows import shown
from pytest_codegenie.reporters.rows import trials_of


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
    trials = group.trial_figures()
    if trials:
        lines.append(f"  trials   {trials_of(trials)}")
    means = group.breakdown_means()
    if means:
        each = "  ".join(f"{key} {value:.3f}" for key, value in means.items())
        lines.append(f"  means    {each}")
    for severity in _SEVERITIES:
        codes = [
            f"{code} x{count}"
            for (code, own), count in sorted(group.failure_modes.items())
            if own == severity
        ]
        if codes:
            lines.append(f"  {severity:<8} {', '.join(codes)}")
    recalled = recalled_of(group)
    if recalled:
        lines.append(f"  origin   {recalled}")
    lines.append(f"  cost     {_cost(group)}; time {group.seconds:.1f} s")
    return lines


def _counts(group: Group, counted: int) -> str:
    trials = group.trial_figures()
    results = (
        f"{counted} trials of {cases_of(len(group.passes))}" if trials else counted
    )
    parts = [f"{group.passed} of {results} passed"]
    if group.errors:
        parts.append(f"{group.errors} not judged (errors)")
    if group.ambiguous:
        parts.append(f"{group.ambiguous} ambiguous, not counted")
    return "; ".join(parts)


def _score(group: Group) -> str:
    mean = group.mean_score
    if mean is None:
        return "none: no case was judged"
    return (
        f"mean {mean:.3f}  stddev {shown(group.score_stddev)}  "
        f"95% lower bound {bound_of(group)}"
    )


def _cost(group: Group) -> str:
    if group.cost_usd is None:
        return "unknown (no agent reported one)"
    unpriced = f", {group.unpriced} results without" if group.unpriced else ""
    earlier = ""
    if group.recalled and group.earlier_cost_usd:
        earlier = f", {group.earlier_cost_usd:.4f} of it spent in earlier runs"
    return f"{group.cost_usd:.4f} USD as reported by the agent{unpriced}{earlier}"
