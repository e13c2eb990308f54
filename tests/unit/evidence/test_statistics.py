"""Statistics against published values, SciPy's own, and samples that give none."""

from __future__ import annotations

import builtins
import math
import random
import tracemalloc
from collections.abc import Sequence
from statistics import NormalDist
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import binomtest
from scipy.stats import bootstrap

from pytest_codegenie.evidence.statistics import RESAMPLES
from pytest_codegenie.evidence.statistics import Bound
from pytest_codegenie.evidence.statistics import lower_bound_95
from pytest_codegenie.evidence.statistics import mean
from pytest_codegenie.evidence.statistics import stddev
from pytest_codegenie.evidence.statistics.resampling import bca


def passes(passed: int, total: int) -> list[float]:
    return [1.0] * passed + [0.0] * (total - passed)


def bound(scores: Sequence[float], seed: int = 1) -> float:
    value = lower_bound_95(scores, seed=seed).value
    assert value is not None
    return value


def test_mean_and_deviation_are_the_textbooks() -> None:
    scores = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert mean(scores) == 5.0
    assert stddev(scores) == pytest.approx(math.sqrt(32 / 7), rel=1e-15)
    assert mean([0.5]) == 0.5
    assert stddev([0.5, 0.5]) == 0.0


def test_too_little_data_gives_none_never_zero() -> None:
    assert mean([]) is None
    assert stddev([]) is None
    assert stddev([1.0]) is None
    for scores in ([], [1.0], [1.0, 0.0]):
        assert lower_bound_95(scores, seed=1) == Bound(
            None, f"too few cases ({len(scores)} of at least 3)"
        )


@pytest.mark.parametrize(
    ("passed", "total", "published"),
    [
        # All passed: 0.05 ** (1 / n), as in every table of Clopper and Pearson.
        (3, 3, 0.3684),
        (10, 10, 0.7411),
        (20, 20, 0.8609),
        (22, 22, 0.8727),
        (59, 59, 0.9505),  # the "59 of 59 show 95%" of reliability testing
        (299, 299, 0.9900),
        (0, 10, 0.0),
    ],
)
def test_pass_rates_have_the_published_exact_bound(
    passed: int, total: int, published: float
) -> None:
    result = lower_bound_95(passes(passed, total), seed=1)
    assert result.note == "Clopper-Pearson"
    assert result.value == pytest.approx(published, abs=5e-5)


@settings(deadline=None)
@given(st.integers(3, 200).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))))
def test_the_exact_bound_is_the_one_that_leaves_five_percent_above(
    counts: tuple[int, int],
) -> None:
    passed, total = counts
    value = bound(passes(passed, total))
    assert float(binom.sf(passed - 1, total, value)) == pytest.approx(0.05, abs=1e-9)
    other = binomtest(passed, total, alternative="greater").proportion_ci(0.95, "exact")
    assert value == pytest.approx(other.low, abs=1e-9)


def bca_lower(scores: Sequence[float], resamples: int) -> float:
    """Efron (1987) written out, with Python's own generator."""
    generator, normal = random.Random(7), NormalDist()
    estimate, size = fmean(scores), len(scores)
    means = sorted(fmean(generator.choices(scores, k=size)) for _ in range(resamples))
    below = sum(value < estimate for value in means)
    ties = sum(value == estimate for value in means)
    z0 = normal.inv_cdf((below + ties / 2) / resamples)
    total = math.fsum(scores)
    left_out = [(total - score) / (size - 1) for score in scores]
    centre = fmean(left_out)
    cubes = math.fsum((centre - value) ** 3 for value in left_out)
    squares = math.fsum((centre - value) ** 2 for value in left_out)
    acceleration = cubes / (6 * squares**1.5)
    z = z0 + normal.inv_cdf(0.05)
    level = normal.cdf(z0 + z / (1 - acceleration * z))
    return means[round(level * (resamples - 1))]


@pytest.mark.parametrize(
    "scores",
    [
        [0.1, 0.2, 0.4, 0.5, 0.7, 0.8, 0.9, 1.0],
        [0.0, 0.0, 0.0, 0.1, 0.2, 0.9, 1.0, 1.0, 0.3, 0.4],
        [1.0, 1.0, 1.0, 0.9, 1.0, 0.2, 1.0, 0.95],
    ],
)
def test_other_scores_have_the_bound_of_efrons_formula(scores: list[float]) -> None:
    result = lower_bound_95(scores, seed=3)
    assert result.note == "BCa bootstrap"
    assert result.value == pytest.approx(bca_lower(scores, 4000), abs=0.02)


def test_the_same_scores_and_seed_give_the_same_bound() -> None:
    assert RESAMPLES == 9999
    scores = [0.1, 0.35, 0.4, 0.85, 0.9]
    assert bound(scores, seed=5) == bound(scores, seed=5)
    assert bound(scores, seed=5) == pytest.approx(bound(scores, seed=6), abs=0.02)
    assert 0 < bound(scores) < fmean(scores)


@pytest.mark.parametrize("score", [0.5, 0.1, 1 / 3])
def test_scores_that_are_all_equal_have_no_bound(score: float) -> None:
    reason = "all scores are equal: nothing to resample"
    assert lower_bound_95([score] * 12, seed=1) == Bound(None, reason)
    # Means of the same trials, summed in another order.
    rounded = [score] * 11 + [score + 1e-12]
    assert lower_bound_95(rounded, seed=1) == Bound(None, reason)


@pytest.mark.parametrize(
    ("scores", "best", "passed"),
    [
        ([1.0] * 11 + [0.99], 1.0, 12),
        ([0.99] * 11 + [0.98], 0.99, 12),
        ([0.5] * 11 + [0.501], 0.501, 12),
        ([0.0] * 3 + [0.5] * 8 + [0.501], 0.501, 9),
    ],
)
def test_scores_that_hardly_vary_show_no_more_than_full_ones(
    scores: list[float], best: float, passed: int
) -> None:
    exact = binomtest(passed, 12, alternative="greater").proportion_ci(0.95, "exact")
    assert not exact.low * best > scipy_bca(scores, seed=1)
    result = lower_bound_95(scores, seed=1)
    assert result.note == "Clopper-Pearson cap"
    assert result.value == pytest.approx(exact.low * best, abs=1e-9)


def test_the_bound_of_nearly_perfect_scores_is_not_above_the_truth() -> None:
    """One case in twenty scores 0, and ten cases seldom show it.

    The bootstrap alone then lies above the true mean more often than not.
    """
    generator = random.Random(20)
    truth = 0.95 * 0.975
    samples = [
        [
            0.0 if generator.random() < 0.05 else generator.uniform(0.95, 1)
            for _ in range(10)
        ]
        for _ in range(60)
    ]
    above = sum(bound(sample) > truth for sample in samples)
    alone = sum(scipy_bca(sample, seed=1) > truth for sample in samples)
    assert (above, alone > 30) == (0, True)


def scipy_bca(scores: Sequence[float], seed: int) -> float:
    """SciPy's bootstrap, all resamples at once."""
    interval = bootstrap(
        (np.sort(scores),),
        np.mean,
        alternative="greater",
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low)


@pytest.mark.parametrize("size", [20, 300, 700])
def test_the_bootstrap_in_batches_is_scipys_to_the_last_bit(size: int) -> None:
    generator = random.Random(size)
    scores = [generator.random() for _ in range(size)]
    assert bound(scores, seed=9) == scipy_bca(scores, seed=9)


def test_thousands_of_scores_take_little_memory() -> None:
    scores = [number / 1999 for number in range(2000)]
    bound(scores[:5])  # what is imported on first use counts for nothing
    tracemalloc.start()
    try:
        bound(scores)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # All resamples at once are 320 MB.
    assert most < 60_000_000


# Warnings are errors in this suite, so this also says that there are none.
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 0.5 + 2**-53, 5e-324]),
        min_size=3,
        max_size=12,
    )
)
def test_whatever_the_scores_a_bound_is_a_fraction_not_above_the_best_or_a_reason(
    scores: list[float],
) -> None:
    result = lower_bound_95(scores, seed=1)
    assert result.note
    if result.value is not None:
        assert 0 <= result.value < fmean(scores) or not any(scores)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=9), st.randoms())
def test_the_order_of_the_scores_is_nothing_to_the_figures(
    scores: list[float], generator: random.Random
) -> None:
    other = generator.sample(scores, k=len(scores))
    assert lower_bound_95(other, seed=1) == lower_bound_95(scores, seed=1)
    assert mean(other) == mean(scores)


@given(
    st.integers(3, 300).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n)))
)
def test_one_more_pass_raises_the_exact_bound_and_one_more_failure_lowers_it(
    counts: tuple[int, int],
) -> None:
    passed, total = counts
    here = bound(passes(passed, total))
    assert here < bound(passes(passed + 1, total))
    assert here >= bound(passes(passed, total + 1))
    assert 0 <= here <= passed / total
    assert (here == passed / total) is (passed == 0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=9))
def test_no_scores_prove_more_than_full_ones(scores: list[float]) -> None:
    value = lower_bound_95(scores, seed=1).value
    assert value is None or value <= bound([1.0] * len(scores))


@pytest.mark.parametrize("values", [[0.0, 0.0, 5e-324], [0.5] * 3])
def test_values_that_the_bootstrap_cannot_take_have_no_interval_and_no_warning(
    values: list[float],
) -> None:
    assert bca(values, seed=1, alternative="greater") is None
    assert bca(values, seed=1, alternative="two-sided") is None


def test_without_scipy_the_reason_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] in ("scipy", "numpy"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    reason = "needs SciPy: pip install 'pytest-codegenie[stats]'"
    for scores in ([1.0] * 5, [0.1, 0.2, 0.3]):
        assert lower_bound_95(scores, seed=1) == Bound(None, reason)
