import contextlib
import io
import tempfile
import unittest
from datetime import date
from pathlib import Path

from haulbill import Entry, Month, make_statements, render_statement
from haulbill.__main__ import main

DAY = date(2026, 3, 2)


def entry(account, number, kind, cents):
    return Entry(account, DAY, f"C-{number}", kind, cents)


INTERLEAVED = [
    entry("elm-press", 1, "waiting", 1_500),
    entry("cedar-glass", 2, "freight", 15_000),
    entry("elm-press", 3, "freight", 9_000),
    entry("acorn-toys", 4, "freight", 4_000),
    entry("cedar-glass", 2, "fuel", 700),
    entry("cedar-glass", 5, "freight", 8_000),
    entry("elm-press", 6, "waiting", 500),
]


class AccountsTest(unittest.TestCase):
    def test_example_of_the_report(self):
        entries = [
            entry("birch-foods", 101, "freight", 30_000),
            entry("acorn-toys", 102, "freight", 12_000),
            entry("birch-foods", 103, "freight", 25_000),
        ]
        self.assertEqual(
            [(s.account, s.total_cents) for s in make_statements(entries)],
            [("birch-foods", 52_250), ("acorn-toys", 12_000)],
        )

    def test_one_statement_each_in_order_of_appearance(self):
        accounts = [s.account for s in make_statements(INTERLEAVED)]
        self.assertEqual(accounts, ["elm-press", "cedar-glass", "acorn-toys"])

    def test_lines_stay_in_order(self):
        elm, cedar, _ = make_statements(INTERLEAVED)
        self.assertEqual([e.reference for e in elm.entries], ["C-1", "C-3", "C-6"])
        self.assertEqual(
            [e.kind for e in cedar.entries], ["freight", "fuel", "freight"]
        )

    def test_no_entry_is_lost(self):
        statements = make_statements(INTERLEAVED)
        self.assertEqual(sum(s.charged_cents for s in statements), 38_700)

    def test_entries_may_come_from_a_generator(self):
        statements = make_statements(iter(INTERLEAVED))
        self.assertEqual(statements, make_statements(INTERLEAVED))
        self.assertEqual(len(statements), 3)

    def test_accounts_that_are_not_in_alphabetical_order(self):
        entries = [
            entry("yew-books", 1, "freight", 100),
            entry("yew-books", 2, "freight", 200),
            entry("ash-tools", 3, "freight", 400),
        ]
        self.assertEqual(
            [(s.account, s.total_cents) for s in make_statements(entries)],
            [("yew-books", 300), ("ash-tools", 400)],
        )


class BreakdownTest(unittest.TestCase):
    def test_kinds_add_up(self):
        cedar = make_statements(INTERLEAVED[1:2] + INTERLEAVED[4:6])[0]
        self.assertEqual(cedar.cents_by_kind(), {"freight": 23_000, "fuel": 700})

    def test_kinds_in_order_of_appearance(self):
        entries = [
            entry("elm-press", 1, "waiting", 1_500),
            entry("elm-press", 2, "freight", 9_000),
            entry("elm-press", 3, "waiting", 500),
        ]
        breakdown = make_statements(entries)[0].cents_by_kind()
        self.assertEqual(
            list(breakdown.items()), [("waiting", 2_000), ("freight", 9_000)]
        )

    def test_kinds_that_are_not_in_alphabetical_order(self):
        entries = [
            entry("elm-press", 1, "waiting", 1_500),
            entry("elm-press", 2, "freight", 9_000),
        ]
        self.assertEqual(
            list(make_statements(entries)[0].cents_by_kind()), ["waiting", "freight"]
        )

    def test_credits(self):
        entries = [
            entry("elm-press", 1, "freight", 9_000),
            entry("elm-press", 1, "fuel", 300),
            entry("elm-press", 1, "freight", -9_000),
        ]
        breakdown = make_statements(entries)[0].cents_by_kind()
        self.assertEqual(breakdown, {"freight": 0, "fuel": 300})


class RenderingTest(unittest.TestCase):
    def test_breakdown_of_a_long_statement(self):
        (statement,) = make_statements(
            e for e in INTERLEAVED if e.account == "cedar-glass"
        )
        lines = render_statement(statement, Month(2026, 3)).splitlines()
        self.assertEqual(
            [" ".join(line.split()) for line in lines[6:]],
            ["freight 230.00", "fuel 7.00", "=" * 48, "total 237.00"],
        )

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            ledger = Path(folder, "march.csv")
            ledger.write_text(
                "birch,2026-03-02,C-1,freight,300.00\n"
                "acorn,2026-03-02,C-2,freight,120.00\n"
                "birch,2026-03-03,C-3,freight,250.00\n"
                "birch,2026-04-01,C-4,freight,999.00\n",
                encoding="utf-8",
            )
            with contextlib.redirect_stdout(io.StringIO()) as out:
                self.assertEqual(main([str(ledger), "--month", "2026-03"]), 0)
        totals = [
            line.split()[-1]
            for line in out.getvalue().splitlines()
            if line.startswith(("total", "Statement"))
        ]
        self.assertEqual(totals, ["2026-03", "522.50", "2026-03", "120.00"])
