import math
import statistics

import pytest

from gaugelog import Moments, Reading, collect, find_outliers, rollup, summarise

NOMINAL = 10_000_000.0
OFFSETS = (0, 1, 2, 3)
JITTER = [NOMINAL + offset / 64 for offset in OFFSETS]


def spread(values):
    return pytest.approx(statistics.stdev(values), rel=1e-6)


def oscillator(count=120):
    """One reading a second, jumping around the nominal frequency."""
    return [
        Reading("osc", second, NOMINAL + (second * 37 % 11 - 5) / 512)
        for second in range(count)
    ]


def test_example_of_the_report():
    assert Moments.of(JITTER).stdev == spread(JITTER)


@pytest.mark.parametrize("nominal", [1e6, 1e8, 1e9, -1e9, 1e12])
def test_large_values_with_a_small_spread(nominal):
    values = [nominal + offset for offset in (4, 7, 13, 16)]
    assert Moments.of(values).variance == pytest.approx(30.0, rel=1e-6)


@pytest.mark.parametrize("value", [0.1, 1e-3, 1234.567, 98_765_432.1])
def test_constant_values_do_not_vary(value):
    moments = Moments.of([value] * 1000)
    assert moments.stdev == pytest.approx(0.0, abs=abs(value) * 1e-12)
    assert moments.mean == pytest.approx(value, rel=1e-12)


def test_merged_parts_with_a_small_spread():
    merged = Moments.of(JITTER[:1]).merge(Moments.of(JITTER[1:]))
    assert merged.count == 4
    assert merged.mean == pytest.approx(NOMINAL + 1.5 / 64, rel=1e-12)
    assert merged.stdev == spread(JITTER)


def test_merged_parts_that_lie_apart():
    low, high = [1e9 + 1, 1e9 + 2], [1e9 + 101, 1e9 + 102, 1e9 + 103]
    merged = Moments.of(low).merge(Moments.of(high))
    assert merged.stdev == spread(low + high)


def test_rollup_is_as_if_collected_at_once():
    readings = oscillator()
    (merged,) = rollup(collect(readings, 10), 120)
    (whole,) = collect(readings, 120)
    expected = spread([reading.value for reading in readings])
    assert merged.moments.stdev == expected
    assert whole.moments.stdev == expected


def test_alarm_on_a_jump():
    alarms = find_outliers([*oscillator(60), Reading("osc", 60, NOMINAL + 0.25)], 60)
    assert [alarm.reading.seconds for alarm in alarms] == [60]
    assert alarms[0].deviation == pytest.approx(40.5, abs=0.5)


def test_no_alarm_on_ordinary_jitter():
    assert find_outliers(oscillator(), 60) == []


def test_summary_of_the_oscillator():
    readings = [Reading("osc", i, value) for i, value in enumerate(JITTER)]
    assert summarise(readings).splitlines()[1].split() == [
        "osc",
        "0",
        "4",
        "10000000.023",
        "0.0202",
    ]


def test_merging_an_empty_part_changes_nothing():
    full = Moments.of([1.0, 2.0, 4.0])
    for merged in (full.merge(Moments()), Moments().merge(full)):
        assert (merged.count, merged.low, merged.high) == (3, 1.0, 4.0)
        assert merged.mean == pytest.approx(7 / 3)
        assert merged.stdev == pytest.approx(full.stdev)
    nothing = Moments().merge(Moments())
    assert nothing.count == 0
    assert nothing.mean is nothing.stdev is None


def test_merging_changes_neither_part():
    left, right = Moments.of([1.0, 3.0]), Moments.of([10.0, 14.0])
    left.merge(right).add(1000.0)
    assert (left.count, left.mean, left.high) == (2, 2.0, 3.0)
    assert (right.count, right.mean, right.low) == (2, 12.0, 10.0)
    assert left.variance == pytest.approx(2.0)
    assert right.variance == pytest.approx(8.0)


def test_adding_after_a_merge():
    merged = Moments.of([1.0, 2.0]).merge(Moments.of([3.0]))
    merged.add(10.0)
    assert merged.mean == pytest.approx(4.0)
    assert merged.variance == pytest.approx(statistics.variance([1, 2, 3, 10]))


def test_tiny_values():
    values = [1e-9, 3e-9, 5e-9]
    assert Moments.of(values).stdev == pytest.approx(2e-9)


def test_spread_is_never_negative():
    moments = Moments.of([5.0, 5.0])
    assert moments.variance == 0.0
    assert math.copysign(1, moments.stdev) == 1.0
