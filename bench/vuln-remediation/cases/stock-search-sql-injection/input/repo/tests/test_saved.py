from stockroom import (
    Query,
    SearchError,
    delete_saved,
    run_saved,
    save_search,
    saved_names,
    withdraw,
)
from tests.base import HARBOUR, SUMMIT, DatabaseTestCase


class SavedSearchTest(DatabaseTestCase):
    def setUp(self):
        super().setUp()
        query = Query(categories=("wheels",), max_quantity=10, page=3)
        save_search(self.connection, HARBOUR, "wheels to order", query)

    def saved(self, name="wheels to order", account_id=HARBOUR):
        page = run_saved(self.connection, account_id, name)
        return [part.sku for part in page.parts]

    def test_runs_on_the_present_stock(self):
        self.assertEqual(self.saved(), ["TY-28"])
        withdraw(self.connection, HARBOUR, "TB-28", 25, "2026-06-02")
        self.assertEqual(self.saved(), ["TB-28", "TY-28"])

    def test_belongs_to_its_account(self):
        with self.assertRaises(SearchError):
            self.saved(account_id=SUMMIT)

    def test_same_name_replaces(self):
        save_search(self.connection, HARBOUR, "wheels to order", Query(text="pads"))
        self.assertEqual(self.saved(), ["PD-01"])

    def test_names_and_deletion(self):
        save_search(self.connection, HARBOUR, "it's empty", Query(max_quantity=0))
        names = saved_names(self.connection, HARBOUR)
        self.assertEqual(names, ["it's empty", "wheels to order"])
        delete_saved(self.connection, HARBOUR, "it's empty")
        self.assertEqual(saved_names(self.connection, HARBOUR), ["wheels to order"])
