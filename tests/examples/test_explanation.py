"""The figures in the explanation are those that the code gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_codegenie.evidence.statistics import MIN_SAMPLE
from pytest_codegenie.evidence.statistics import RESAMPLES
from pytest_codegenie.evidence.statistics import lower_bound_95


PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "statistics.md"


def test_the_bounds_are_those_of_the_code() -> None:
    pytest.importorskip("scipy", reason="pip install 'pytest-codegenie[stats]'")
    text = PAGE.read_text(encoding="utf-8")
    of_eleven = lower_bound_95([1.0] * 11, seed=0)
    of_twelve = lower_bound_95([1.0] * 12, seed=0)
    assert f"95% lower bound {of_eleven.value:.3f} ({of_eleven.note})" in text
    assert f"a bound of {of_twelve.value:.3f}." in text


def test_the_limits_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"{RESAMPLES} resamples" in text
    assert MIN_SAMPLE == 3
    assert "fewer than three cases" in text


def test_twelve_of_twelve_may_be_luck() -> None:
    assert 1 / 0.8**12 == pytest.approx(15, abs=0.5)
