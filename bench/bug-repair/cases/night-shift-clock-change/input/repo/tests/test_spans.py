import unittest
from datetime import UTC, date, datetime, timedelta

from nightdesk import CENTRAL_EUROPE, Span
from nightdesk.rounding import nearest
from nightdesk.spans import dates


def at(day, hour, minute=0):
    """A time in June."""
    return datetime(2025, 6, day, hour, minute, tzinfo=CENTRAL_EUROPE)


class SpanTest(unittest.TestCase):
    def test_duration(self):
        span = Span(at(14, 22), at(15, 6))
        self.assertEqual(span.duration, timedelta(hours=8))

    def test_overlap(self):
        span = Span(at(14, 22), at(15, 6))
        two_hours = Span(at(15, 4), at(15, 9))
        self.assertEqual(span.overlap(two_hours), timedelta(hours=2))
        self.assertEqual(two_hours.overlap(span), timedelta(hours=2))
        self.assertEqual(span.overlap(Span(at(15, 6), at(15, 9))), timedelta(0))

    def test_zones_can_be_mixed(self):
        span = Span(at(14, 22), datetime(2025, 6, 15, 4, tzinfo=UTC))
        self.assertEqual(span.duration, timedelta(hours=8))

    def test_the_end_is_after_the_start(self):
        with self.assertRaisesRegex(ValueError, "is not after"):
            Span(at(14, 22), at(14, 22))

    def test_moments_need_a_zone(self):
        with self.assertRaisesRegex(ValueError, "time zone"):
            Span(at(14, 22).replace(tzinfo=None), at(15, 6))

    def test_dates_are_those_of_the_zone(self):
        span = Span(
            datetime(2025, 6, 14, 22, tzinfo=UTC), datetime(2025, 6, 15, 1, tzinfo=UTC)
        )
        self.assertEqual(dates(span, CENTRAL_EUROPE), [date(2025, 6, 15)])


class RoundingTest(unittest.TestCase):
    def test_to_the_nearest_step(self):
        self.assertEqual(nearest(at(14, 21, 57)), at(14, 21, 55))
        self.assertEqual(nearest(at(14, 21, 58)), at(14, 22))

    def test_from_the_middle_on_it_is_the_later_step(self):
        moment = at(14, 23, 52) + timedelta(seconds=30)
        self.assertEqual(nearest(moment, 15), at(15, 0))

    def test_steps_divide_an_hour(self):
        with self.assertRaisesRegex(ValueError, "steps of 7 minutes"):
            nearest(at(14, 22), 7)
