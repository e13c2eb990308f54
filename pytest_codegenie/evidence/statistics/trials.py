"""Several trials of each case: how often one of k passes, and how often all of k do."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AtK:
    """Means over cases of pass@k and pass^k, for one k."""

    k: int
    #: With at least k judged trials: what the means are over.
    cases: int
    #: Judged, but fewer than k times.
    left_out: int
    #: At least one of k trials passes; None where no case has k.
    pass_at: float | None
    #: All of k trials pass; None where no case has k.
    pass_hat: float | None


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """What several trials of each case say that one could not."""

    #: The largest k.
    trials: int
    #: With at least two judged trials.
    repeated: int
    #: Of those, the cases of which some trials passed and some failed.
    flipping: int
    #: For k of 1, 2, 4, 8 and so on, and last ``trials``.
    at: tuple[AtK, ...]

    @property
    def flip_share(self) -> float | None:
        """Share of repeated cases that flip; None where no case was repeated."""
        return self.flipping / self.repeated if self.repeated else None


def pass_at_k(trials: int, passed: int, k: int) -> float | None:
    """Return pass@k of one case: the chance that at least one of k trials passes.

    The unbiased estimator of Chen et al. (2021), 1 - C(n - c, k) / C(n, k): the share
    of all choices of k among the n trials that hold a pass. It takes trials of a case
    for independent and alike.

    Args:
        trials: How many were judged, n.
        passed: How many of them passed, c.
        k: At least 1.

    Returns:
        None for fewer than k trials: nothing says what more would have been.

    Raises:
        ValueError: The numbers are no counts of trials.
    """
    _check(trials, passed, k)
    if trials < k:
        return None
    every = math.comb(trials, k)
    # Integers are exact where the product of fractions only is stable.
    return (every - math.comb(trials - passed, k)) / every


def pass_hat_k(trials: int, passed: int, k: int) -> float | None:
    """Return pass^k of one case: the chance that k trials all pass.

    The unbiased estimator of Yao et al. (2024, tau-bench), C(c, k) / C(n, k): the
    share of all choices of k among the n trials that hold passes alone. It takes
    trials of a case for independent and alike.

    Args:
        trials: How many were judged, n.
        passed: How many of them passed, c.
        k: At least 1.

    Returns:
        None for fewer than k trials.

    Raises:
        ValueError: The numbers are no counts of trials.
    """
    _check(trials, passed, k)
    if trials < k:
        return None
    return math.comb(passed, k) / math.comb(trials, k)


def _check(trials: int, passed: int, k: int) -> None:
    if not 0 <= passed <= trials or k < 1:
        raise ValueError(
            f"{passed} of {trials} trials passed, k of {k}: passed must be between 0 "
            "and trials, and k at least 1"
        )


def trial_figures(cases: Collection[Sequence[bool]], trials: int) -> TrialFigures:
    """Return the figures of several trials of each case.

    Means of each case's own estimate (``pass_at_k``, ``pass_hat_k``), so that a case
    counts once however often it was judged: the case is the unit, not the trial.

    Args:
        cases: For each case whether its judged trials passed; errors are not in it.
        trials: How many trials each case was to have.
    """
    counts = [(len(passes), sum(passes)) for passes in cases if passes]
    powers = (1 << power for power in range(trials.bit_length()))
    ks = sorted({*(k for k in powers if k < trials), trials})
    return TrialFigures(
        trials=trials,
        repeated=sum(judged > 1 for judged, _ in counts),
        flipping=sum(0 < passed < judged for judged, passed in counts),
        at=tuple(_at(counts, k) for k in ks),
    )


def _at(counts: Sequence[tuple[int, int]], k: int) -> AtK:
    enough = [_estimates(*count, k) for count in counts if count[0] >= k]
    return AtK(
        k=k,
        cases=len(enough),
        left_out=len(counts) - len(enough),
        pass_at=_mean([at for at, _ in enough]),
        pass_hat=_mean([hat for _, hat in enough]),
    )


@functools.lru_cache(maxsize=4096)
def _estimates(trials: int, passed: int, k: int) -> tuple[float, float]:
    # Of thousands of cases most have the same counts.
    at, hat = pass_at_k(trials, passed, k), pass_hat_k(trials, passed, k)
    assert at is not None
    assert hat is not None
    return at, hat


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
