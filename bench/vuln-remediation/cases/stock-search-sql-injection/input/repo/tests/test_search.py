from stockroom import Part, Query, SearchError, add_part, count, search
from tests.base import HARBOUR, PARTS, SUMMIT, DatabaseTestCase


class FilterTest(DatabaseTestCase):
    def test_everything_of_one_account(self):
        self.assertEqual(self.skus(), ["CB-10", "CB-20", "PD-01", "TB-28", "TY-28"])
        self.assertEqual(self.skus(SUMMIT), ["CB-10", "RP-60"])

    def test_part_is_returned_as_entered(self):
        page = search(self.connection, HARBOUR, Query(text="TY-28"))
        self.assertEqual(page.parts, (PARTS[HARBOUR][2],))

    def test_text_in_the_name(self):
        self.assertEqual(self.skus(text="cable"), ["CB-10", "CB-20"])

    def test_text_at_the_beginning_of_the_sku(self):
        self.assertEqual(self.skus(text="tb-"), ["TB-28"])
        self.assertEqual(self.skus(text="28"), ["TB-28", "TY-28"])

    def test_categories(self):
        found = self.skus(categories=("brakes", "gears"))
        self.assertEqual(found, ["CB-10", "CB-20", "PD-01"])

    def test_supplier(self):
        self.assertEqual(self.skus(supplier="Rondo"), ["TB-28", "TY-28"])
        self.assertEqual(self.skus(supplier="rondo"), [])

    def test_filters_together(self):
        found = self.skus(text="cable", supplier="Nordkabel", max_quantity=5)
        self.assertEqual(found, ["CB-20"])


class SortTest(DatabaseTestCase):
    def test_descending(self):
        found = self.skus(sort="-quantity")
        self.assertEqual(found, ["TB-28", "CB-10", "TY-28", "CB-20", "PD-01"])

    def test_two_keys(self):
        found = self.skus(sort="category,-price")
        self.assertEqual(found, ["PD-01", "CB-10", "CB-20", "TY-28", "TB-28"])

    def test_unknown_key(self):
        for sort in ("colour", "", "sku,,name"):
            with self.subTest(sort), self.assertRaises(SearchError):
                self.skus(sort=sort)


class PageTest(DatabaseTestCase):
    def test_pages(self):
        for number in range(40):
            add_part(
                self.connection,
                HARBOUR,
                Part(f"Z{number:02}", "Spoke", "wheels", 1, 20, "Rondo", "2026-06-01"),
            )
        page = search(self.connection, HARBOUR, Query(text="spoke", page=2))
        self.assertEqual((page.total, page.number, page.last), (40, 2, 2))
        self.assertEqual(page.parts[0].sku, "Z20")
        self.assertEqual(len(page.parts), 20)

    def test_empty_result_has_one_page(self):
        page = search(self.connection, HARBOUR, Query(text="anchor"))
        self.assertEqual((page.parts, page.total, page.last), ((), 0, 1))

    def test_count(self):
        query = Query(categories=("wheels",))
        self.assertEqual(count(self.connection, HARBOUR, query), 2)
