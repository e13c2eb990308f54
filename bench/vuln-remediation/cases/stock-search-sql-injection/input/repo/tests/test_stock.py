from stockroom import StockError, add_part, receive, withdraw
from tests.base import HARBOUR, PARTS, DatabaseTestCase


class StockTest(DatabaseTestCase):
    def test_receive_and_withdraw(self):
        stock = receive(self.connection, HARBOUR, "CB-20", 10, "2026-06-01")
        self.assertEqual(stock, 13)
        stock = withdraw(self.connection, HARBOUR, "CB-20", 13, "2026-06-02")
        self.assertEqual(stock, 0)
        self.assertEqual(self.skus(max_quantity=0), ["CB-20", "PD-01"])

    def test_impossible_movements(self):
        for sku, amount in (("CB-20", 4), ("CB-20", 0), ("CB-99", 1)):
            with self.subTest((sku, amount)), self.assertRaises(StockError):
                withdraw(self.connection, HARBOUR, sku, amount, "2026-06-01")

    def test_sku_is_unique_in_its_account(self):
        with self.assertRaises(StockError):
            add_part(self.connection, HARBOUR, PARTS[HARBOUR][0])
