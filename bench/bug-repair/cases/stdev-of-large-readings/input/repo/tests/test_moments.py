import statistics

import pytest

from gaugelog import Moments

TEMPERATURES = [19.5, 20.25, 21.0, 20.5, 19.75, 22.0]


def test_count_mean_low_and_high():
    moments = Moments.of(TEMPERATURES)
    assert moments.count == 6
    assert moments.mean == pytest.approx(20.5)
    assert (moments.low, moments.high) == (19.5, 22.0)


def test_spread_of_a_sample():
    moments = Moments.of(TEMPERATURES)
    assert moments.variance == pytest.approx(statistics.variance(TEMPERATURES))
    assert moments.stdev == pytest.approx(statistics.stdev(TEMPERATURES))


def test_without_values():
    moments = Moments()
    assert moments.count == 0
    assert moments.mean is moments.low is moments.high is None
    assert moments.variance is moments.stdev is None


def test_one_value_has_no_spread():
    moments = Moments.of([4.5])
    assert moments.mean == 4.5
    assert moments.stdev is None


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_only_finite_values(value):
    with pytest.raises(ValueError, match="not a finite number"):
        Moments().add(value)


def test_merge_is_as_if_added_together():
    merged = Moments.of(TEMPERATURES[:2]).merge(Moments.of(TEMPERATURES[2:]))
    assert merged.count == 6
    assert merged.mean == pytest.approx(20.5)
    assert merged.stdev == pytest.approx(statistics.stdev(TEMPERATURES))
