"""Statistics of scores: values in, frozen values out. SciPy is imported on use."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass


#: Resamples of the bootstrap; Efron and Tibshirani (1993) ask for at least 1000.
RESAMPLES = 9999
LEVEL = 0.95
MIN_SAMPLE = 3


@dataclass(frozen=True, slots=True)
class Bound:
    """A one-sided 95% lower bound of a mean, or why there is none."""

    value: float | None
    #: The estimator, or the reason for None.
    note: str


def mean(scores: Sequence[float]) -> float | None:
    """Return the mean; None for no scores."""
    return math.fsum(scores) / len(scores) if scores else None


def stddev(scores: Sequence[float]) -> float | None:
    """Return the sample standard deviation (n - 1); None for fewer than two scores."""
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

    Args:
        scores: One for each case, in [0, 1]; trials of a case are averaged before.
        seed: Of the bootstrap. The same scores and seed give the same bound.

    Returns:
        A bound of None for fewer than three scores, for scores that are all equal but
        neither 0 nor 1, and where SciPy is not installed.
    """
    if len(scores) < MIN_SAMPLE:
        return Bound(None, f"too few cases ({len(scores)} of at least {MIN_SAMPLE})")
    try:
        if all(score in (0, 1) for score in scores):
            return Bound(_clopper_pearson(scores), "Clopper-Pearson")
        if len(set(scores)) == 1:
            return Bound(None, "all scores are equal: nothing to resample")
        return _bca(scores, seed)
    except ImportError:
        return Bound(None, "needs SciPy: pip install 'pytest-codegenie[stats]'")


def _clopper_pearson(scores: Sequence[float]) -> float:
    from scipy.special import betaincinv

    passed, total = int(sum(scores)), len(scores)
    if passed == 0:
        return 0.0
    return float(betaincinv(passed, total - passed + 1, 1 - LEVEL))


def _bca(scores: Sequence[float], seed: int) -> Bound:
    import numpy as np
    from scipy.stats import bootstrap

    with warnings.catch_warnings():
        # Of a degenerate sample the result tells, and nobody's warning filters may
        # make an error of it.
        warnings.simplefilter("ignore")
        interval = bootstrap(
            (np.asarray(scores, dtype=float),),
            np.mean,
            confidence_level=LEVEL,
            alternative="greater",
            method="BCa",
            n_resamples=RESAMPLES,
            vectorized=True,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low = float(interval.low)
    if not math.isfinite(low):
        return Bound(None, "the bootstrap is degenerate for these scores")
    return Bound(min(max(low, 0.0), 1.0), "BCa bootstrap")
