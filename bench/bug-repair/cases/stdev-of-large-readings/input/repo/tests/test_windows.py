import pytest

from gaugelog import Reading, collect, find_outliers, read_csv, rollup, summarise
from gaugelog.readings import ReadingError

LINES = """\
# hall 3
inlet,0,20.0
inlet,30,22.0

outlet,10,31.0
inlet,60,21.0
"""


def readings():
    return list(read_csv(LINES.splitlines()))


def test_read_csv():
    assert readings()[0] == Reading("inlet", 0, 20.0)
    assert len(readings()) == 4


def test_read_csv_names_the_line():
    with pytest.raises(ReadingError, match="line 2: expected 3 fields, got 2"):
        list(read_csv(["a,1,2.0", "a,1"]))


def test_collect_by_channel_and_start():
    windows = collect(readings(), 60)
    assert [(w.channel, w.start, w.moments.count) for w in windows] == [
        ("inlet", 0, 2),
        ("inlet", 60, 1),
        ("outlet", 0, 1),
    ]


def test_rollup():
    (inlet, outlet) = rollup(collect(readings(), 60), 120)
    assert (inlet.start, inlet.end, inlet.moments.count) == (0, 120, 3)
    assert inlet.moments.stdev == pytest.approx(1.0)
    assert outlet.moments.count == 1


def test_rollup_wants_a_multiple():
    with pytest.raises(ValueError, match="not a multiple"):
        rollup(collect(readings(), 60), 90)


def test_outlier():
    quiet = [Reading("inlet", second, 20.0 + second % 2) for second in range(10)]
    alarms = find_outliers([*quiet, Reading("inlet", 12, 35.0)], 10)
    assert [alarm.reading.value for alarm in alarms] == [35.0]


def test_summary():
    assert summarise(readings(), 60).splitlines()[1:] == [
        "inlet                 0     2         21.000     1.4142",
        "inlet                60     1         21.000          -",
        "outlet                0     1         31.000          -",
    ]
