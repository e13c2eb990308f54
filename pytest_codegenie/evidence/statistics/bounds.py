"""One sample of scores: its mean, its spread, and how low the true mean may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_codegenie.evidence.statistics.resampling import DEGENERATE
from pytest_codegenie.evidence.statistics.resampling import LEVEL
from pytest_codegenie.evidence.statistics.resampling import MIN_SAMPLE
from pytest_codegenie.evidence.statistics.resampling import NEEDS_SCIPY
from pytest_codegenie.evidence.statistics.resampling import all_equal
from pytest_codegenie.evidence.statistics.resampling import bca
from pytest_codegenie.evidence.statistics.resampling import too_few


@dataclass(frozen=True, slots=True)
class Bound:
    """A one-sided 95% lower bound of a mean, or why there is none."""

    value: float | None
    #: The estimator, or the reason for None.
    note: str


def mean(scores: Sequence[float]) -> float | None:
    """Return the arithmetic mean; None for no scores.

    It is the unbiased estimator of the mean of what the scores are a sample of. The
    sum is exact (``math.fsum``): their order does not matter.
    """
    return math.fsum(scores) / len(scores) if scores else None


def stddev(scores: Sequence[float]) -> float | None:
    """Return the sample standard deviation; None for fewer than two scores.

    The root of the unbiased estimator of the variance (n - 1, Bessel's correction).
    It says how much cases differ, not how sure the mean is.
    """
    if len(scores) < 2:
        return None
    centre = math.fsum(scores) / len(scores)
    squares = math.fsum((score - centre) ** 2 for score in scores)
    return math.sqrt(squares / (len(scores) - 1))


def lower_bound_95(scores: Sequence[float], *, seed: int) -> Bound:
    """Return the one-sided 95% lower bound of the mean score.

    Where every score is 0 or 1 it is the exact binomial bound (Clopper and Pearson
    1934); else the bias-corrected and accelerated bootstrap (Efron 1987). Both take
    the cases for an independent sample of the work that they stand for.

    The bootstrap knows of no score that is not in the sample, so one that hardly
    varies would read as certainty, and 0.99 in place of each 1 would prove more than
    the 1. It therefore never exceeds the exact bound of what is at least as good: a
    sample in which each score above 0 were the best one.

    Args:
        scores: One for each case, in [0, 1], in any order; trials of a case are
            averaged before.
        seed: Of the bootstrap. The same scores and seed give the same bound.

    Returns:
        A bound below the mean (0 where that is 0). None for fewer than three scores,
        for scores that are all equal but neither 0 nor 1, where the bootstrap gives
        none, and where SciPy is not installed.
    """
    if len(scores) < MIN_SAMPLE:
        return Bound(None, too_few(len(scores)))
    try:
        if all(score in (0, 1) for score in scores):
            return Bound(_exact(scores), "Clopper-Pearson")
        if all_equal(scores):
            return Bound(None, "all scores are equal: nothing to resample")
        return _resampled(sorted(scores), seed)
    except ImportError:
        return Bound(None, NEEDS_SCIPY)


def _exact(scores: Sequence[float]) -> float:
    """Return the exact bound if every score above 0 were the best one."""
    from scipy.special import betaincinv

    passed, total = sum(score > 0 for score in scores), len(scores)
    if passed == 0:
        return 0.0
    return float(betaincinv(passed, total - passed + 1, 1 - LEVEL)) * max(scores)


def _resampled(scores: Sequence[float], seed: int) -> Bound:
    interval = bca(scores, seed=seed, alternative="greater")
    exact = _exact(scores)
    low = interval and max(interval[0], 0.0)
    if low is None or min(low, exact) >= math.fsum(scores) / len(scores):
        return Bound(None, DEGENERATE)
    if exact < low:
        return Bound(exact, "Clopper-Pearson cap")
    return Bound(low, "BCa bootstrap")
