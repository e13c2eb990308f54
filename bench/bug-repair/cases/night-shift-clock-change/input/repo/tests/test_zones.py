import unittest
from datetime import UTC, datetime, timedelta

from nightdesk import CENTRAL_EUROPE, WESTERN_EUROPE


class RuleZoneTest(unittest.TestCase):
    def test_summer_and_winter(self):
        winter = datetime(2025, 1, 15, 12, tzinfo=CENTRAL_EUROPE)
        summer = datetime(2025, 7, 15, 12, tzinfo=CENTRAL_EUROPE)
        self.assertEqual(winter.utcoffset(), timedelta(hours=1))
        self.assertEqual(summer.utcoffset(), timedelta(hours=2))
        self.assertEqual(summer.tzname(), "CEST")

    def test_every_quarter_of_an_hour_survives_the_way_through_the_zone(self):
        for month, day in ((3, 29), (10, 25)):
            first = datetime(2025, month, day, 23, tzinfo=UTC)
            for quarter in range(20):
                moment = first + quarter * timedelta(minutes=15)
                local = moment.astimezone(CENTRAL_EUROPE)
                self.assertEqual(local.astimezone(UTC), moment)

    def test_the_clocks_change_at_the_same_moment_everywhere(self):
        moment = datetime(2025, 10, 26, 1, tzinfo=UTC)
        self.assertEqual(f"{moment.astimezone(CENTRAL_EUROPE):%H:%M %Z}", "02:00 CET")
        self.assertEqual(f"{moment.astimezone(WESTERN_EUROPE):%H:%M %Z}", "01:00 WET")
