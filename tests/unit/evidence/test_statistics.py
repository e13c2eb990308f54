"""Statistics against published values, SciPy's own, and samples that give none."""

from __future__ import annotations

import builtins
import math
import random
from collections.abc import Sequence
from statistics import NormalDist
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import binomtest

from pytest_codegenie.evidence.statistics import RESAMPLES
from pytest_codegenie.evidence.statistics import Bound
from pytest_codegenie.evidence.statistics import lower_bound_95
from pytest_codegenie.evidence.statistics import mean
from pytest_codegenie.evidence.statistics import stddev


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
    assert lower_bound_95([score] * 12, seed=1) == Bound(
        None, "all scores are equal: nothing to resample"
    )


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
        assert 0 <= result.value <= max(scores)


def test_a_sample_that_the_bootstrap_cannot_take_has_no_bound_and_no_warning() -> None:
    assert lower_bound_95([0.0, 0.0, 5e-324], seed=1) == Bound(
        None, "the bootstrap is degenerate for these scores"
    )


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
