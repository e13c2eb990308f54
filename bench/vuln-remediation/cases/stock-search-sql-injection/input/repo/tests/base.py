"""A small database with two accounts."""

import unittest

from stockroom import Part, Query, add_part, connect, search

HARBOUR = 1
SUMMIT = 2

PARTS = {
    HARBOUR: [
        Part("CB-10", "Brake cable", "brakes", 12, 450, "Nordkabel", "2026-03-02"),
        Part("CB-20", "Shift cable", "gears", 3, 390, "Nordkabel", "2026-05-11"),
        Part("TY-28", "Tyre 28 inch", "wheels", 7, 2490, "Rondo", "2026-01-20"),
        Part("TB-28", "Tube 28 inch", "wheels", 31, 590, "Rondo", "2026-05-11"),
        Part("PD-01", "Brake pads", "brakes", 0, 1290, "Haltmann", "2026-04-04"),
    ],
    SUMMIT: [
        Part("RP-60", "Rope 60 m", "ropes", 4, 14900, "Seilerei Ott", "2026-02-01"),
        Part("CB-10", "Cable tie", "small", 900, 5, "Nordkabel", "2026-02-02"),
    ],
}


class DatabaseTestCase(unittest.TestCase):
    def setUp(self):
        self.connection = connect(":memory:")
        self.addCleanup(self.connection.close)
        with self.connection:
            self.connection.executemany(
                "INSERT INTO accounts (id, name, api_key) VALUES (?, ?, ?)",
                [
                    (HARBOUR, "Harbour Bikes", "hb_41c07a"),
                    (SUMMIT, "Summit Ropes", "sr_9e52d8"),
                ],
            )
        for account_id, parts in PARTS.items():
            for part in parts:
                add_part(self.connection, account_id, part)

    def skus(self, account_id=HARBOUR, **query):
        page = search(self.connection, account_id, Query(**query))
        return [part.sku for part in page.parts]
