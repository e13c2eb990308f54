"""Two sides on the same cases: their difference, and whether chance explains it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_codegenie.evidence.statistics.resampling import DEGENERATE
from pytest_codegenie.evidence.statistics.resampling import MIN_SAMPLE
from pytest_codegenie.evidence.statistics.resampling import NEEDS_SCIPY
from pytest_codegenie.evidence.statistics.resampling import all_equal
from pytest_codegenie.evidence.statistics.resampling import bca
from pytest_codegenie.evidence.statistics.resampling import too_few


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference with its two-sided 95% interval, or why there is none."""

    #: None where nothing was compared.
    value: float | None
    #: Both None, or neither; ``low <= value <= high`` and ``low < high``.
    low: float | None
    high: float | None
    #: The estimator, or the reason for None.
    note: str


def paired_difference(differences: Sequence[float], *, seed: int) -> Interval:
    """Return the mean difference of paired scores with a two-sided 95% interval.

    The mean, and the bias-corrected and accelerated bootstrap of it (Efron 1987).
    It takes the pairs for an independent sample of the work that they stand for; the
    two scores of a pair need not be independent, which is why they are paired.

    Args:
        differences: After minus before, one for each case; trials of a case are
            averaged before.
        seed: Of the bootstrap. The same differences, order and seed give the same
            interval; all with their signs turned give it mirrored, up to rounding.

    Returns:
        No ends for fewer than three differences, where all are equal (two sides that
        agree on every case show no certainty that they always do), where the
        bootstrap gives none, and where SciPy is not installed.
    """
    if not differences:
        return Interval(None, None, None, too_few(0))
    value = math.fsum(differences) / len(differences)
    reason = _no_interval(differences)
    if reason:
        return Interval(value, None, None, reason)
    try:
        interval = bca(differences, seed=seed, alternative="two-sided")
    except ImportError:
        return Interval(value, None, None, NEEDS_SCIPY)
    if interval is None or not interval[0] <= value <= interval[1] > interval[0]:
        return Interval(value, None, None, DEGENERATE)
    return Interval(value, *interval, "BCa bootstrap")


def _no_interval(differences: Sequence[float]) -> str:
    if len(differences) < MIN_SAMPLE:
        return too_few(len(differences))
    if all_equal(differences):
        return "all differences are equal: nothing to resample"
    return ""


@dataclass(frozen=True, slots=True)
class McNemar:
    """Cases that one side passed and the other did not, and how odd their split is."""

    only_before: int
    only_after: int
    #: Exact, two-sided; None where nothing was compared.
    p_value: float | None


def mcnemar(only_before: int, only_after: int) -> McNemar:
    """Return McNemar's exact test of paired passes and failures.

    If neither side were better, each case on which they disagree would be a fair coin:
    the p value is the chance of a split at least as uneven (McNemar 1947; the exact
    conditional test, as in Fagerland, Lydersen and Laake 2013). Cases on which both
    agree say nothing about which is better. It takes cases for independent.

    Args:
        only_before: Cases that passed before and not after.
        only_after: Cases that passed after and not before.

    Returns:
        The two numbers and the p value; 1 where the sides disagree on no case.
    """
    disagree = only_before + only_after
    # Integers: exact for any number of cases, and without SciPy.
    ways = tail = 1
    for count in range(min(only_before, only_after)):
        ways = ways * (disagree - count) // (count + 1)
        tail += ways
    # For an even split both tails hold its middle.
    return McNemar(only_before, only_after, min(1.0, 2 * tail / 2**disagree))
