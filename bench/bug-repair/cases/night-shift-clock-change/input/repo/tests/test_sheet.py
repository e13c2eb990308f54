import unittest
from datetime import date, timedelta

from nightdesk import CENTRAL_EUROPE, PunchError, Timesheet

JUNE = """\
anna,in,2025-06-14T21:58:10+02:00
anna,out,2025-06-15T06:01:40+02:00
ben,in,2025-06-16T07:00:00+02:00
ben,out,2025-06-16T16:30:00+02:00
"""

TABLE = """\
who   day         from   to     worked  break   paid  night sunday
anna  2025-06-14  22:00  06:00    8.00   0.50   7.50   8.00   6.00
ben   2025-06-16  07:00  16:30    9.50   0.75   8.75   0.00   0.00"""


class TimesheetTest(unittest.TestCase):
    def test_the_table(self):
        sheet = Timesheet.from_punches(JUNE, CENTRAL_EUROPE)
        self.assertEqual(sheet.as_text(), TABLE)

    def test_the_hours_of_each_day(self):
        sheet = Timesheet.from_punches(JUNE, CENTRAL_EUROPE)
        expected = {
            date(2025, 6, 14): timedelta(hours=2),
            date(2025, 6, 15): timedelta(hours=6),
        }
        self.assertEqual(sheet.by_day("anna"), expected)
        self.assertEqual(sheet.paid("anna"), timedelta(hours=7, minutes=30))

    def test_the_order_of_the_lines_does_not_matter(self):
        backwards = "\n".join(reversed(JUNE.splitlines()))
        sheet = Timesheet.from_punches(backwards, CENTRAL_EUROPE)
        self.assertEqual(sheet.as_text(), TABLE)

    def test_an_in_without_out(self):
        with self.assertRaisesRegex(PunchError, "anna: in at 2025-06-14 22:00 without"):
            Timesheet.from_punches(JUNE.splitlines()[0], CENTRAL_EUROPE)

    def test_a_time_without_offset_is_refused(self):
        with self.assertRaisesRegex(PunchError, "line 1: not a punch"):
            Timesheet.from_punches("anna,in,2025-06-14T22:00:00", CENTRAL_EUROPE)
