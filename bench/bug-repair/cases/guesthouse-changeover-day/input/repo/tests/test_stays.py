from datetime import date

import pytest

from lodgebook import Stay


def july(arrival: int, departure: int) -> Stay:
    return Stay(date(2025, 7, arrival), date(2025, 7, departure))


def test_nights_do_not_count_the_day_of_departure():
    stay = july(11, 14)
    assert stay.nights == 3
    assert [night.day for night in stay.each_night()] == [11, 12, 13]


def test_a_stay_has_at_least_one_night():
    with pytest.raises(ValueError, match="at least one night"):
        july(11, 11)


@pytest.mark.parametrize(
    "other",
    [july(11, 14), july(12, 13), july(9, 12), july(13, 18), july(8, 20)],
    ids=["same", "within", "before", "after", "around"],
)
def test_stays_with_a_night_in_common_overlap(other):
    assert july(11, 14).overlaps(other)
    assert other.overlaps(july(11, 14))


def test_stays_days_apart_do_not_overlap():
    assert not july(11, 14).overlaps(july(20, 22))
