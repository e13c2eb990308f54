import unittest
from datetime import date

from haulbill import Entry, Month, make_statements, render_statement

DAY = date(2026, 3, 2)


def entry(account, number, kind, cents):
    return Entry(account, DAY, f"C-{number}", kind, cents)


ENTRIES = [
    entry("acorn-toys", 101, "freight", 12_000),
    entry("acorn-toys", 102, "freight", 8_000),
    entry("acorn-toys", 102, "fuel", 950),
    entry("birch-foods", 103, "freight", 60_000),
]


class StatementsTest(unittest.TestCase):
    def test_one_for_each_account(self):
        statements = make_statements(ENTRIES)
        self.assertEqual(
            [(s.account, s.charged_cents) for s in statements],
            [("acorn-toys", 20_950), ("birch-foods", 60_000)],
        )

    def test_discount(self):
        acorn, birch = make_statements(ENTRIES)
        self.assertEqual(acorn.discount_cents, 0)
        self.assertEqual(birch.discount_cents, 3_000)
        self.assertEqual(birch.total_cents, 57_000)

    def test_breakdown(self):
        acorn = make_statements(ENTRIES)[0]
        self.assertEqual(acorn.cents_by_kind(), {"freight": 20_000, "fuel": 950})

    def test_nothing_charged(self):
        self.assertEqual(make_statements([]), [])


class RenderingTest(unittest.TestCase):
    def test_statement(self):
        birch = make_statements(ENTRIES)[1]
        self.assertEqual(
            render_statement(birch, Month(2026, 3)).splitlines(),
            [
                "Statement for birch-foods, 2026-03",
                "================================================",
                "2026-03-02 C-103 freight                  600.00",
                "------------------------------------------------",
                "freight                                   600.00",
                "volume discount                           -30.00",
                "================================================",
                "total                                     570.00",
            ],
        )
