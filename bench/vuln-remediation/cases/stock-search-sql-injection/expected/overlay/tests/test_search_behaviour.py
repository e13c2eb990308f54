"""What the README promises of the search."""

from stockroom import (
    Part,
    Query,
    SearchError,
    add_part,
    count,
    parse_query,
    run_saved,
    save_search,
    search,
)
from tests.base import HARBOUR, SUMMIT, DatabaseTestCase


class WildcardTest(DatabaseTestCase):
    def test_any_text(self):
        self.assertEqual(self.skus(text="t%inch"), ["TB-28", "TY-28"])
        self.assertEqual(self.skus(text="%28"), ["TB-28", "TY-28"])

    def test_any_character(self):
        self.assertEqual(self.skus(text="c_-1"), ["CB-10"])
        self.assertEqual(self.skus(text="TY__E"), [])

    def test_backslash_is_an_ordinary_character(self):
        part = Part("BS-1", "Adapter 1\\4", "small", 1, 1, "Rondo", "2026-06-01")
        add_part(self.connection, HARBOUR, part)
        self.assertEqual(self.skus(text="1\\4"), ["BS-1"])
        self.assertEqual(self.skus(text="\\%4"), ["BS-1"])

    def test_words_of_sql_are_ordinary_text(self):
        names = ["Union nut", "Drop bar", "Kit; select -- spare", 'Tube 3/8"', "1=1?"]
        for number, name in enumerate(names):
            part = Part(f"W-{number}", name, "small", 1, 1, "Rondo", "2026-06-01")
            add_part(self.connection, HARBOUR, part)
        for number, name in enumerate(names):
            self.assertEqual(self.skus(text=name), [f"W-{number}"])


class SortKeyTest(DatabaseTestCase):
    EXPECTED = {
        "sku": ["CB-10", "CB-20", "PD-01", "TB-28", "TY-28"],
        "name": ["CB-10", "PD-01", "CB-20", "TB-28", "TY-28"],
        "category": ["CB-10", "PD-01", "CB-20", "TY-28", "TB-28"],
        "quantity": ["PD-01", "CB-20", "TY-28", "CB-10", "TB-28"],
        "price": ["CB-20", "CB-10", "TB-28", "PD-01", "TY-28"],
        "supplier": ["PD-01", "CB-10", "CB-20", "TY-28", "TB-28"],
        "updated": ["TY-28", "CB-10", "PD-01", "CB-20", "TB-28"],
    }

    def test_each_key(self):
        for key, expected in self.EXPECTED.items():
            self.assertEqual(self.skus(sort=key), expected, key)

    def test_equal_parts_stay_as_entered_in_descending_order(self):
        self.assertEqual(
            self.skus(sort="-updated"), ["CB-20", "TB-28", "PD-01", "CB-10", "TY-28"]
        )
        self.assertEqual(
            self.skus(sort="-supplier"), ["TY-28", "TB-28", "CB-10", "CB-20", "PD-01"]
        )

    def test_upper_case_and_spaces(self):
        for key in ("Quantity", "QUANTITY", " quantity "):
            self.assertEqual(self.skus(sort=key), self.EXPECTED["quantity"], key)
        self.assertEqual(
            self.skus(sort="Category, -PRICE"),
            ["PD-01", "CB-10", "CB-20", "TY-28", "TB-28"],
        )

    def test_numbers_are_not_sorted_as_text(self):
        page = search(self.connection, SUMMIT, Query(sort="-quantity"))
        self.assertEqual([part.quantity for part in page.parts], [900, 4])

    def test_unknown_key_among_known_ones(self):
        for sort in ("sku,colour", "sku,-", "sku desc nulls"):
            with self.assertRaises(SearchError, msg=sort):
                self.skus(sort=sort)


class OtherPromisesTest(DatabaseTestCase):
    def test_many_categories(self):
        categories = (*(f"c{number}" for number in range(60)), "gears", "gears")
        self.assertEqual(self.skus(categories=categories), ["CB-20"])

    def test_nothing_in_stock(self):
        self.assertEqual(self.skus(max_quantity=0), ["PD-01"])

    def test_empty_supplier_is_a_supplier(self):
        self.assertEqual(self.skus(supplier=""), [])

    def test_filters_hold_for_text_and_sku(self):
        """The text may match either of two columns; other filters still count."""
        found = self.skus(SUMMIT, text="c", categories=("small",), max_quantity=1000)
        self.assertEqual(found, ["CB-10"])
        found = self.skus(SUMMIT, text="c", categories=("ropes",), max_quantity=1000)
        self.assertEqual(found, [])

    def test_total_and_count_use_all_filters(self):
        query = parse_query("q=cable&supplier=Nordkabel&max=20&category=gears")
        page = search(self.connection, HARBOUR, query)
        self.assertEqual((page.total, len(page.parts)), (1, 1))
        self.assertEqual(count(self.connection, HARBOUR, query), 1)

    def test_saved_search_with_everything(self):
        query = parse_query(
            "q=%25inch&supplier=Rondo&max=50&category=wheels&sort=-Price"
        )
        save_search(self.connection, HARBOUR, "all of it", query)
        page = run_saved(self.connection, HARBOUR, "all of it")
        self.assertEqual([part.sku for part in page.parts], ["TY-28", "TB-28"])

    def test_second_page_of_a_saved_search(self):
        for number in range(25):
            add_part(
                self.connection,
                HARBOUR,
                Part(f"Z{number:02}", "Spoke", "wheels", 1, 20, "Rondo", "2026-06-01"),
            )
        save_search(self.connection, HARBOUR, "spokes", Query(text="spoke"))
        page = run_saved(self.connection, HARBOUR, "spokes", page=2)
        self.assertEqual([part.sku for part in page.parts][0], "Z20")
        self.assertEqual(page.total, 25)
