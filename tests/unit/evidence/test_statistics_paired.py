"""Paired differences and McNemar's test against SciPy's and a published example."""

from __future__ import annotations

import builtins
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import bootstrap

from pytest_codegenie.evidence.statistics import Interval
from pytest_codegenie.evidence.statistics import mcnemar
from pytest_codegenie.evidence.statistics import paired_difference


DIFFERENCES = [0.5, -0.25, 0.0, 1.0, 0.125, 0.0, -0.5, 0.75]


def test_the_interval_is_the_one_of_scipys_paired_bootstrap() -> None:
    before = np.array([0.5, 0.5, 1.0, 0.0, 0.25, 0.0, 1.0, 0.25])
    after = before + DIFFERENCES

    # Whole pairs are drawn: written by pairs, where ours is written by differences.
    def mean_of_pairs(first: Any, second: Any, axis: int = -1) -> Any:
        return np.mean(second - first, axis=axis)

    other = bootstrap(
        (before, after),
        mean_of_pairs,
        paired=True,
        method="BCa",
        rng=np.random.default_rng(4),
        n_resamples=20_000,
    ).confidence_interval
    interval = paired_difference(DIFFERENCES, seed=11)
    assert interval.note == "BCa bootstrap"
    assert interval.value == 0.203125
    assert interval.low == pytest.approx(other.low, abs=0.02)
    assert interval.high == pytest.approx(other.high, abs=0.02)


def test_the_same_differences_and_seed_give_the_same_interval() -> None:
    differences = [0.531, -0.25, 0.017, 1.0, 0.119, -0.003, -0.477, 0.75]
    first = paired_difference(differences, seed=11)
    assert paired_difference(differences, seed=11) == first
    assert paired_difference(differences, seed=12) != first


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 1.0, 1e-300]),
        min_size=3,
        max_size=10,
    )
)
def test_an_interval_holds_the_mean_and_is_mirrored_with_the_signs(
    differences: list[float],
) -> None:
    interval = paired_difference(differences, seed=5)
    mirrored = paired_difference([-one for one in differences], seed=5)
    assert interval.value is not None
    assert mirrored.value == -interval.value
    assert interval.note
    if interval.low is None or interval.high is None:
        assert (interval.low, interval.high) == (None, None)
        return
    assert -1 <= interval.low <= interval.value <= interval.high <= 1
    assert interval.low < interval.high
    if mirrored.low is not None and mirrored.high is not None:
        assert mirrored.low == pytest.approx(-interval.high, abs=1e-9)
        assert mirrored.high == pytest.approx(-interval.low, abs=1e-9)


@pytest.mark.parametrize(
    ("differences", "value", "reason"),
    [
        ([], None, "too few cases (0 of at least 3)"),
        ([1.0], 1.0, "too few cases (1 of at least 3)"),
        ([1.0, -1.0], 0.0, "too few cases (2 of at least 3)"),
        ([0.0] * 50, 0.0, "all differences are equal: nothing to resample"),
        ([-1.0] * 50, -1.0, "all differences are equal: nothing to resample"),
        # 0.4 - 0.3 and 0.6 - 0.5 are not the same float.
        (
            [0.4 - 0.3, 0.6 - 0.5, 0.2 - 0.1],
            pytest.approx(0.1),
            "all differences are equal: nothing to resample",
        ),
    ],
)
def test_too_little_to_tell_has_a_reason_and_no_ends(
    differences: list[float], value: Any, reason: str
) -> None:
    assert paired_difference(differences, seed=1) == Interval(value, None, None, reason)


def test_without_scipy_there_is_a_difference_and_no_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] in ("scipy", "numpy"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert paired_difference([0.0, 0.5, 1.0], seed=1) == Interval(
        0.5, None, None, "needs SciPy: pip install 'pytest-codegenie[stats]'"
    )
    assert mcnemar(1, 7).p_value == 18 / 256


def test_mcnemar_is_the_published_one() -> None:
    """Airway hyper-responsiveness before and after stem cell transplantation.

    Bentur et al. (2009), table 1 of Fagerland, Lydersen and Laake (2013): 1 and 7
    discordant pairs, exact conditional p = 0.070.
    """
    test = mcnemar(1, 7)
    assert (test.only_before, test.only_after) == (1, 7)
    assert test.p_value == pytest.approx(0.0703, abs=5e-5)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_exact_test_of_a_fair_coin(before: int, after: int) -> None:
    p_value = mcnemar(before, after).p_value
    assert p_value == mcnemar(after, before).p_value
    assert p_value is not None
    assert 0 < p_value <= 1
    if before + after:
        other = binomtest(before, before + after, 0.5).pvalue
        assert p_value == pytest.approx(float(other), rel=1e-9, abs=1e-300)


def test_sides_that_agree_everywhere_show_nothing() -> None:
    assert mcnemar(0, 0).p_value == 1.0


def test_thousands_of_disagreements_are_exact() -> None:
    assert mcnemar(0, 1000).p_value == float(Fraction(2, 2**1000))
