import unittest
from datetime import date

from haulbill import Entry, LedgerError, Month, read_ledger
from haulbill.discounts import discount_cents
from haulbill.money import format_cents, parse_cents


class MoneyTest(unittest.TestCase):
    def test_parse(self):
        amounts = [parse_cents(text) for text in ("12", "12.50", "-3.00", "0.05")]
        self.assertEqual(amounts, [1200, 1250, -300, 5])

    def test_parse_rejects_other_text(self):
        for text in ("", "1.5", "1,000.00", "free"):
            with self.subTest(text), self.assertRaises(ValueError):
                parse_cents(text)

    def test_format(self):
        texts = [format_cents(cents) for cents in (125_000, -5, 0)]
        self.assertEqual(texts, ["1,250.00", "-0.05", "0.00"])


class LedgerTest(unittest.TestCase):
    def test_read(self):
        lines = ["acorn-toys, 2026-03-02, C-102, freight, 120.00", ""]
        expected = Entry("acorn-toys", date(2026, 3, 2), "C-102", "freight", 12_000)
        self.assertEqual(list(read_ledger(lines)), [expected])

    def test_error_names_the_line(self):
        with self.assertRaisesRegex(LedgerError, "ledger line 2: not an amount"):
            list(read_ledger(["a,2026-03-02,C-1,fuel,1", "a,2026-03-02,C-2,fuel,x"]))


class MonthTest(unittest.TestCase):
    def test_entries_of_a_month(self):
        days = [date(2026, 2, 28), date(2026, 3, 1), date(2025, 3, 1)]
        entries = [Entry("a", day, "C-1", "freight", 1) for day in days]
        self.assertEqual(list(Month.parse("2026-03").entries(entries)), [entries[1]])


class DiscountTest(unittest.TestCase):
    def test_tiers(self):
        discounts = [discount_cents(n) for n in (49_999, 50_000, 199_999, 200_000)]
        self.assertEqual(discounts, [0, 2_500, 9_999, 16_000])
