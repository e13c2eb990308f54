"""Parts enter the stock and leave it."""

import sqlite3

from stockroom.errors import StockError
from stockroom.models import Part


def add_part(connection: sqlite3.Connection, account_id: int, part: Part) -> None:
    """Enter a new part, and its supplier where that is new too.

    Raises:
        StockError: The account has a part with this SKU, or the stock is negative.
    """
    try:
        with connection:
            connection.execute(
                "INSERT INTO suppliers (account_id, name) VALUES (?, ?)"
                " ON CONFLICT DO NOTHING",
                (account_id, part.supplier),
            )
            connection.execute(
                "INSERT INTO parts (account_id, supplier_id, sku, name, category,"
                " quantity, price_cents, updated)"
                " SELECT ?, id, ?, ?, ?, ?, ?, ? FROM suppliers"
                " WHERE account_id = ? AND name = ?",
                (
                    account_id,
                    part.sku,
                    part.name,
                    part.category,
                    part.quantity,
                    part.price_cents,
                    part.updated,
                    account_id,
                    part.supplier,
                ),
            )
    except sqlite3.IntegrityError as exc:
        raise StockError(f"part {part.sku!r} cannot be entered: {exc}") from exc


def receive(
    connection: sqlite3.Connection, account_id: int, sku: str, amount: int, day: str
) -> int:
    """Add to the stock of a part on an ISO 8601 day; return the new stock."""
    if amount <= 0:
        raise StockError(f"amount must be positive, not {amount}")
    return _move(connection, account_id, sku, amount, day)


def withdraw(
    connection: sqlite3.Connection, account_id: int, sku: str, amount: int, day: str
) -> int:
    """Take from the stock of a part on an ISO 8601 day; return the new stock."""
    if amount <= 0:
        raise StockError(f"amount must be positive, not {amount}")
    return _move(connection, account_id, sku, -amount, day)


def _move(
    connection: sqlite3.Connection, account_id: int, sku: str, change: int, day: str
) -> int:
    try:
        with connection:
            rows = connection.execute(
                "UPDATE parts SET quantity = quantity + ?, updated = ?"
                " WHERE account_id = ? AND sku = ? RETURNING quantity",
                (change, day, account_id, sku),
            ).fetchall()
    except sqlite3.IntegrityError as exc:
        raise StockError(f"there is not enough of {sku!r}") from exc
    if not rows:
        raise StockError(f"there is no part {sku!r}")
    return rows[0]["quantity"]
