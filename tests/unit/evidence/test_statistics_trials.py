"""pass@k and pass^k against brute force and the paper's formula; flips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_codegenie.evidence.statistics import AtK
from pytest_codegenie.evidence.statistics import pass_at_k
from pytest_codegenie.evidence.statistics import pass_hat_k
from pytest_codegenie.evidence.statistics import trial_figures


#: One case: whether its trials passed.
CASES = st.lists(st.lists(st.booleans(), max_size=8), max_size=12)


def trials(passed: int, total: int) -> list[bool]:
    return [True] * passed + [False] * (total - passed)


@pytest.mark.parametrize("total", range(1, 9))
def test_both_are_the_share_of_choices_of_k_trials(total: int) -> None:
    for passed in range(total + 1):
        for k in range(1, total + 1):
            choices = list(combinations(trials(passed, total), k))
            at = sum(map(any, choices)) / len(choices)
            hat = sum(map(all, choices)) / len(choices)
            assert pass_at_k(total, passed, k) == at
            assert pass_hat_k(total, passed, k) == hat


def chen_et_al(total: int, passed: int, k: int) -> float:
    """The numerically stable product of Chen et al. (2021), figure 3."""
    if total - passed < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / n for n in range(total - passed + 1, total + 1))


@given(
    st.integers(1, 400).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
    )
)
def test_pass_at_k_is_the_formula_of_its_paper(counts: tuple[int, int, int]) -> None:
    assert pass_at_k(*counts) == pytest.approx(chen_et_al(*counts), abs=1e-12)


def test_many_trials_neither_overflow_nor_round_to_certainty() -> None:
    # C(1000, 500) has 300 digits.
    assert pass_at_k(1000, 1, 500) == 0.5
    assert pass_hat_k(1000, 999, 500) == 0.5
    assert pass_hat_k(2000, 1000, 1000) == pytest.approx(1 / math.comb(2000, 1000))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_more_trials_pass_once_more_often_and_always_less_often(
    counts: tuple[int, int],
) -> None:
    passed, total = counts
    at = [pass_at_k(total, passed, k) for k in range(1, total + 1)]
    hat = [pass_hat_k(total, passed, k) for k in range(1, total + 1)]
    assert all(value is not None and 0 <= value <= 1 for value in at + hat)
    assert at == sorted(at, key=float_of)
    assert hat == sorted(hat, key=float_of, reverse=True)
    assert at[0] == hat[0] == passed / total
    assert (at[-1], hat[-1]) == (float(passed > 0), float(passed == total))


def float_of(value: float | None) -> float:
    assert value is not None
    return value


def test_fewer_trials_than_k_say_nothing() -> None:
    assert pass_at_k(2, 2, 3) is None
    assert pass_hat_k(2, 0, 3) is None
    assert pass_at_k(0, 0, 1) is None


@pytest.mark.parametrize("counts", [(3, 4, 1), (3, -1, 1), (-1, 0, 1), (3, 1, 0)])
def test_what_is_no_count_is_refused(counts: tuple[int, int, int]) -> None:
    for estimator in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="passed must be between 0 and trials"):
            estimator(*counts)


def test_figures_are_means_over_cases() -> None:
    figures = trial_figures([trials(3, 3), trials(1, 3), trials(0, 3)], 3)
    assert (figures.trials, figures.repeated, figures.flipping) == (3, 3, 1)
    assert figures.flip_share == 1 / 3
    assert [(at.k, at.cases, at.left_out) for at in figures.at] == [
        (1, 3, 0),
        (2, 3, 0),
        (3, 3, 0),
    ]
    shares = [share for at in figures.at for share in (at.pass_at, at.pass_hat)]
    assert shares == pytest.approx([4 / 9, 4 / 9, 5 / 9, 1 / 3, 2 / 3, 1 / 3])


def test_a_case_with_errors_counts_as_far_as_it_was_judged() -> None:
    cases = [trials(3, 3), trials(1, 2), trials(1, 1), []]
    figures = trial_figures(cases, 3)
    assert [(at.k, at.cases, at.left_out) for at in figures.at] == [
        (1, 3, 0),
        (2, 2, 1),
        (3, 1, 2),
    ]
    # Each case counts once, whether it was judged once or three times.
    assert figures.at[0].pass_at == pytest.approx((1 + 0.5 + 1) / 3)
    assert (figures.repeated, figures.flipping) == (2, 1)


@pytest.mark.parametrize("cases", [[], [[], []]])
def test_nothing_judged_gives_none_never_zero(cases: list[list[bool]]) -> None:
    figures = trial_figures(cases, 2)
    assert figures.flip_share is None
    assert figures.at == (AtK(1, 0, 0, None, None), AtK(2, 0, 0, None, None))


@pytest.mark.parametrize(
    ("count", "ks"),
    [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (10, [1, 2, 4, 8, 10])],
)
def test_k_are_the_powers_of_two_and_all_trials(count: int, ks: list[int]) -> None:
    assert [at.k for at in trial_figures([trials(1, count)], count).at] == ks


@given(CASES, st.integers(1, 8))
def test_whatever_the_trials_the_figures_agree_with_one_another(
    cases: Sequence[Sequence[bool]], count: int
) -> None:
    figures = trial_figures(cases, count)
    judged = [case for case in cases if case]
    first = figures.at[0]
    share = fmean(fmean(case) for case in judged) if judged else None
    assert first.pass_at == first.pass_hat
    assert first.pass_at == (share if share is None else pytest.approx(share))
    for at in figures.at:
        assert at.cases + at.left_out == len(judged)
        assert (at.pass_at is None) is (at.cases == 0)
        if at.pass_at is not None:
            assert 0 <= float_of(at.pass_hat) <= at.pass_at <= 1
    assert 0 <= figures.flipping <= figures.repeated <= len(judged)
    assert trial_figures(cases[::-1], count) == figures
