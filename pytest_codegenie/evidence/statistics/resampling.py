"""The bootstrap that bounds and intervals share: SciPy's, seeded, in little memory."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Literal


#: Resamples of the bootstrap; Efron and Tibshirani (1993) ask for at least 1000.
RESAMPLES = 9999
LEVEL = 0.95
MIN_SAMPLE = 3

NEEDS_SCIPY = "needs SciPy: pip install 'pytest-codegenie[stats]'"
DEGENERATE = "the bootstrap is degenerate for these scores"
#: Means of the same trials differ by as much in rounding.
_ROUNDING = 1e-9
#: Values in memory at a time: more is slower, for want of room in the caches.
_BATCH_VALUES = 1 << 19


def too_few(cases: int) -> str:
    """Return the reason why so few cases have no bound."""
    return f"too few cases ({cases} of at least {MIN_SAMPLE})"


def all_equal(values: Sequence[float]) -> bool:
    """Tell whether values differ by no more than rounding."""
    return max(values) - min(values) <= _ROUNDING


def bca(
    values: Sequence[float],
    *,
    seed: int,
    alternative: Literal["two-sided", "greater"],
) -> tuple[float, float] | None:
    """Return the 95% confidence interval of the mean by the BCa bootstrap.

    Bias-corrected and accelerated (Efron 1987), ``scipy.stats.bootstrap``. It takes
    the values for an independent sample: one for each case.

    Args:
        values: In an order that does not depend on chance: it matters to the seed.
        seed: The same values and seed give the same interval.
        alternative: ``greater`` for a one-sided interval, that ends at infinity.

    Returns:
        Low and high end; None where the bootstrap gives none, as it does for values
        that hardly differ.

    Raises:
        ImportError: SciPy is not installed.
    """
    import numpy as np
    from scipy.stats import bootstrap

    with warnings.catch_warnings():
        # Of a degenerate sample the result tells, and nobody's warning filters may
        # make an error of it.
        warnings.simplefilter("ignore")
        interval = bootstrap(
            (np.asarray(values, dtype=float),),
            np.mean,
            confidence_level=LEVEL,
            alternative=alternative,
            method="BCa",
            n_resamples=RESAMPLES,
            vectorized=True,
            # Its stream is the same in any batches.
            batch=max(1, _BATCH_VALUES // len(values)),
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(interval.low), float(interval.high)
    return None if math.isnan(low) or math.isnan(high) else (low, high)
