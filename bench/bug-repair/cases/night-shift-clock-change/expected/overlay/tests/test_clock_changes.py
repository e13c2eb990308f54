import unittest
from datetime import UTC, date, datetime, time, timedelta

from nightdesk import (
    CENTRAL_EUROPE,
    EASTERN_EUROPE,
    NIGHT,
    SUNDAY,
    WESTERN_EUROPE,
    Premium,
    PunchError,
    Span,
    Timesheet,
)
from nightdesk.rounding import nearest


def minutes(count):
    return timedelta(minutes=count)


def hours(count):
    return timedelta(hours=count)


def local(text, zone=CENTRAL_EUROPE):
    """A moment that is written with its offset, as a time of the zone."""
    return datetime.fromisoformat(text).astimezone(zone)


def sheet_of(*times, who="anna", zone=CENTRAL_EUROPE):
    """A sheet of the shifts from and to the given times, in turn."""
    kinds = ["in", "out"] * (len(times) // 2)
    lines = [f"{who},{kind},{at}" for kind, at in zip(kinds, times, strict=True)]
    return Timesheet.from_punches("\n".join(lines), zone)


MARCH = ("2025-03-29T21:58:10+01:00", "2025-03-30T06:01:40+02:00")
OCTOBER = ("2025-10-25T21:57:55+02:00", "2025-10-26T06:02:20+01:00")


class NightOfTheChangeTest(unittest.TestCase):
    def test_the_table(self):
        head, march, october = sheet_of(*MARCH, *OCTOBER).as_text().splitlines()
        self.assertEqual(
            march, "anna  2025-03-29  22:00  06:00    7.00   0.50   6.50   7.00   5.00"
        )
        self.assertEqual(
            october,
            "anna  2025-10-25  22:00  06:00    9.00   0.50   8.50   9.00   7.00",
        )
        self.assertTrue(head.startswith("who "))

    def test_the_hours_of_each_day_in_march(self):
        expected = {date(2025, 3, 29): hours(2), date(2025, 3, 30): hours(5)}
        self.assertEqual(sheet_of(*MARCH).by_day("anna"), expected)

    def test_the_hours_of_each_day_in_october(self):
        expected = {date(2025, 10, 25): hours(2), date(2025, 10, 26): hours(7)}
        self.assertEqual(sheet_of(*OCTOBER).by_day("anna"), expected)

    def test_the_break_follows_from_the_time_worked(self):
        longer = sheet_of("2025-10-25T21:45:00+02:00", "2025-10-26T06:00:00+01:00")
        self.assertEqual(longer.rows[0].worked, hours(9) + minutes(15))
        self.assertEqual(longer.rows[0].break_, minutes(45))
        shorter = sheet_of("2025-03-29T23:30:00+01:00", "2025-03-30T06:00:00+02:00")
        self.assertEqual(shorter.rows[0].worked, hours(5) + minutes(30))
        self.assertEqual(shorter.paid("anna"), hours(5) + minutes(30))

    def test_other_zones_change_at_another_time_of_the_day(self):
        west = sheet_of(
            "2025-10-25T22:00:00+01:00",
            "2025-10-26T01:30:00+00:00",
            zone=WESTERN_EUROPE,
        )
        self.assertEqual(west.rows[0].worked, hours(4) + minutes(30))
        east = sheet_of(
            "2025-03-30T02:00:00+02:00",
            "2025-03-30T04:30:00+03:00",
            zone=EASTERN_EUROPE,
        )
        self.assertEqual(east.rows[0].worked, hours(1) + minutes(30))

    def test_the_nights_before_and_after_have_eight_hours(self):
        for start, end in (
            ("2025-03-28T22:00:00+01:00", "2025-03-29T06:00:00+01:00"),
            ("2025-03-30T22:00:00+02:00", "2025-03-31T06:00:00+02:00"),
            ("2025-10-24T22:00:00+02:00", "2025-10-25T06:00:00+02:00"),
            ("2025-10-26T22:00:00+01:00", "2025-10-27T06:00:00+01:00"),
        ):
            row = sheet_of(start, end).rows[0]
            self.assertEqual((row.worked, row.premiums["night"]), (hours(8), hours(8)))


class HourThatComesTwiceTest(unittest.TestCase):
    def test_from_the_first_time_to_the_second(self):
        sheet = sheet_of(
            "2025-10-26T02:47:00+02:00", "2025-10-26T02:13:00+01:00", who="ben"
        )
        self.assertEqual(
            sheet.as_text().splitlines()[1],
            "ben  2025-10-26  02:45  02:15    0.50   0.00   0.50   0.50   0.50",
        )

    def test_until_the_second_time(self):
        row = sheet_of("2025-10-25T22:00:00+02:00", "2025-10-26T02:13:00+01:00").rows[0]
        self.assertEqual(row.worked, hours(5) + minutes(15))
        self.assertEqual(row.premiums["sunday"], hours(3) + minutes(15))

    def test_until_the_first_time(self):
        row = sheet_of("2025-10-25T22:00:00+02:00", "2025-10-26T02:13:00+02:00").rows[0]
        self.assertEqual(row.worked, hours(4) + minutes(15))

    def test_from_the_second_time_on(self):
        row = sheet_of("2025-10-26T02:13:00+01:00", "2025-10-26T06:00:00+01:00").rows[0]
        self.assertEqual(row.worked, hours(3) + minutes(45))
        self.assertEqual(row.premiums["night"], hours(3) + minutes(45))

    def test_from_the_first_time_on(self):
        row = sheet_of("2025-10-26T02:13:00+02:00", "2025-10-26T06:00:00+01:00").rows[0]
        self.assertEqual(row.worked, hours(4) + minutes(45))

    def test_at_the_same_time_of_the_clock_an_hour_later(self):
        row = sheet_of("2025-10-26T02:30:00+02:00", "2025-10-26T02:30:00+01:00").rows[0]
        self.assertEqual(row.worked, hours(1))

    def test_two_shifts_within_the_hour(self):
        sheet = sheet_of(
            "2025-10-26T02:05:00+02:00",
            "2025-10-26T02:50:00+02:00",
            "2025-10-26T02:20:00+01:00",
            "2025-10-26T02:40:00+01:00",
        )
        self.assertEqual([row.worked for row in sheet.rows], [minutes(45), minutes(20)])
        self.assertEqual(sheet.by_day("anna"), {date(2025, 10, 26): minutes(65)})

    def test_an_out_before_the_in_is_still_an_error(self):
        with self.assertRaisesRegex(PunchError, "anna: out at .* without in"):
            sheet_of("2025-10-26T02:20:00+01:00", "2025-10-26T02:40:00+02:00")


class RoundingTest(unittest.TestCase):
    def check(self, moment, expected, step=5):
        found = nearest(local(moment), step)
        self.assertEqual(found.astimezone(UTC), local(expected).astimezone(UTC))

    def test_within_the_second_time(self):
        self.check("2025-10-26T02:13:00+01:00", "2025-10-26T02:15:00+01:00")
        self.check("2025-10-26T02:00:30+01:00", "2025-10-26T02:00:00+01:00")

    def test_within_the_first_time(self):
        self.check("2025-10-26T02:13:00+02:00", "2025-10-26T02:15:00+02:00")

    def test_up_to_the_moment_when_the_clocks_go_back(self):
        self.check("2025-10-26T02:58:00+02:00", "2025-10-26T02:00:00+01:00")
        self.check("2025-10-26T02:53:00+02:00", "2025-10-26T02:00:00+01:00", 15)

    def test_up_to_the_end_of_the_second_time(self):
        self.check("2025-10-26T02:58:00+01:00", "2025-10-26T03:00:00+01:00")

    def test_up_to_the_moment_when_the_clocks_go_forward(self):
        self.check("2025-03-30T01:58:00+01:00", "2025-03-30T03:00:00+02:00")

    def test_a_shift_that_ends_just_before_the_clocks_go_back(self):
        row = sheet_of("2025-10-25T22:00:00+02:00", "2025-10-26T02:58:00+02:00").rows[0]
        self.assertEqual(row.worked, hours(5))


class SpanTest(unittest.TestCase):
    def test_a_day_with_a_change(self):
        for month, day, length in ((3, 30, 23), (10, 26, 25), (6, 15, 24)):
            midnight = datetime(2025, month, day, tzinfo=CENTRAL_EUROPE)
            next_midnight = datetime(2025, month, day + 1, tzinfo=CENTRAL_EUROPE)
            self.assertEqual(Span(midnight, next_midnight).duration, hours(length))

    def test_times_of_the_zone_and_of_utc_make_the_same_span(self):
        start, end = local(OCTOBER[0]), local(OCTOBER[1])
        here = Span(start, end)
        there = Span(start.astimezone(UTC), end.astimezone(UTC))
        self.assertEqual(here.duration, there.duration)
        self.assertEqual(here.overlap(there), there.overlap(here))
        self.assertEqual(here.overlap(here), there.duration)

    def test_the_end_may_be_earlier_by_the_clock_only(self):
        first, second = "2025-10-26T02:45:00+02:00", "2025-10-26T02:15:00+01:00"
        self.assertEqual(Span(local(first), local(second)).duration, minutes(30))
        with self.assertRaisesRegex(ValueError, "is not after"):
            Span(local(second), local(first))

    def test_overlap_within_the_hour_that_comes_twice(self):
        one = Span(
            local("2025-10-26T02:10:00+02:00"), local("2025-10-26T02:20:00+01:00")
        )
        two = Span(
            local("2025-10-26T02:50:00+02:00"), local("2025-10-26T02:40:00+01:00")
        )
        self.assertEqual(one.overlap(two), minutes(30))
        self.assertEqual(two.overlap(one), minutes(30))

    def test_no_overlap_within_the_hour_that_comes_twice(self):
        one = Span(
            local("2025-10-26T02:10:00+02:00"), local("2025-10-26T02:50:00+02:00")
        )
        two = Span(
            local("2025-10-26T02:20:00+01:00"), local("2025-10-26T02:40:00+01:00")
        )
        self.assertEqual(one.overlap(two), timedelta(0))


class PremiumTest(unittest.TestCase):
    def test_a_span_around_the_whole_window(self):
        span = Span(
            local("2025-10-25T18:00:00+02:00"), local("2025-10-26T09:00:00+01:00")
        )
        self.assertEqual(NIGHT.hours(span, CENTRAL_EUROPE), hours(9))
        self.assertEqual(SUNDAY.hours(span, CENTRAL_EUROPE), hours(10))

    def test_a_whole_sunday(self):
        for first, last, length in (
            ("2025-03-29T12:00:00+01:00", "2025-03-31T12:00:00+02:00", 23),
            ("2025-10-25T12:00:00+02:00", "2025-10-27T12:00:00+01:00", 25),
        ):
            span = Span(local(first), local(last))
            self.assertEqual(SUNDAY.hours(span, CENTRAL_EUROPE), hours(length))

    def test_a_span_in_utc(self):
        span = Span(
            datetime(2025, 10, 25, 16, tzinfo=UTC),
            datetime(2025, 10, 26, 8, tzinfo=UTC),
        )
        self.assertEqual(NIGHT.hours(span, CENTRAL_EUROPE), hours(9))

    def test_a_premium_ends_by_the_clock_on_the_wall(self):
        early = Premium("early", time(4), time(6))
        span = Span(
            local("2025-10-25T22:00:00+02:00"), local("2025-10-26T05:00:00+01:00")
        )
        self.assertEqual(early.hours(span, CENTRAL_EUROPE), hours(1))
