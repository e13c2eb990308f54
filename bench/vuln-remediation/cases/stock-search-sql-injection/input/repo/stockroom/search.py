"""Search in the parts of one account."""

import sqlite3

from stockroom.errors import SearchError
from stockroom.models import PAGE_SIZE, Page, Part, Query

_COLUMNS = """
    p.sku AS sku,
    p.name AS name,
    p.category AS category,
    p.quantity AS quantity,
    p.price_cents AS price,
    s.name AS supplier,
    p.updated AS updated
"""
_TABLES = "parts AS p JOIN suppliers AS s ON s.id = p.supplier_id"


def search(connection: sqlite3.Connection, account_id: int, query: Query) -> Page:
    """Return one page of the parts of an account that match a query.

    Raises:
        SearchError: The query cannot be run, as with an unknown sort key.
    """
    offset = (query.page - 1) * PAGE_SIZE
    rows = _run(
        connection,
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {_where(account_id, query)}\n"
        f"ORDER BY {_order_by(query.sort)} LIMIT {PAGE_SIZE} OFFSET {offset}",
    )
    if query.page == 1 and len(rows) < PAGE_SIZE:
        total = len(rows)
    else:
        total = count(connection, account_id, query)
    parts = tuple(Part(*row) for row in rows)
    return Page(parts=parts, total=total, number=query.page)


def count(connection: sqlite3.Connection, account_id: int, query: Query) -> int:
    """Return how many parts match a query, on all of its pages."""
    (row,) = _run(
        connection,
        f"SELECT count(*) FROM {_TABLES} WHERE {_where(account_id, query)}\n",
    )
    return row[0]


def _run(connection: sqlite3.Connection, sql: str) -> list[sqlite3.Row]:
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.Error as exc:
        raise SearchError(f"the search cannot be run: {exc}") from exc


def _where(account_id: int, query: Query) -> str:
    """Return the condition for the parts that match a query."""
    conditions = [f"p.account_id = {account_id}"]
    if query.max_quantity is not None:
        conditions.append(f"p.quantity <= {query.max_quantity}")
    if query.supplier is not None:
        conditions.append(f"s.name = '{query.supplier}'")
    if query.categories:
        names = ", ".join(f"'{name}'" for name in query.categories)
        conditions.append(f"p.category IN ({names})")
    if query.text:
        conditions.append(
            f"(p.name LIKE '%{query.text}%' OR p.sku LIKE '{query.text}%')"
        )
    return " AND ".join(conditions)


def _order_by(sort: str) -> str:
    """Return the terms of ORDER BY; parts that compare equal stay as entered."""
    terms = []
    for key in sort.split(","):
        key = key.strip()
        direction = "DESC" if key.startswith("-") else "ASC"
        terms.append(f"{key.removeprefix('-')} {direction}")
    return ", ".join([*terms, "p.id ASC"])
