"""Searches that an account keeps under a name."""

import json
import sqlite3
from dataclasses import asdict, replace

from stockroom.errors import SearchError
from stockroom.models import Page, Query
from stockroom.search import search


def save_search(
    connection: sqlite3.Connection, account_id: int, name: str, query: Query
) -> None:
    """Keep a query under a name; an older one of the same name is replaced."""
    with connection:
        connection.execute(
            "INSERT INTO saved_searches (account_id, name, query) VALUES (?, ?, ?)"
            " ON CONFLICT (account_id, name) DO UPDATE SET query = excluded.query",
            (account_id, name, json.dumps(asdict(replace(query, page=1)))),
        )


def saved_names(connection: sqlite3.Connection, account_id: int) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM saved_searches WHERE account_id = ? ORDER BY name",
        (account_id,),
    )
    return [row["name"] for row in rows]


def run_saved(
    connection: sqlite3.Connection, account_id: int, name: str, page: int = 1
) -> Page:
    """Run a saved search on the stock as it is now.

    Raises:
        SearchError: The account has no search of this name.
    """
    row = connection.execute(
        "SELECT query FROM saved_searches WHERE account_id = ? AND name = ?",
        (account_id, name),
    ).fetchone()
    if row is None:
        raise SearchError(f"there is no saved search {name!r}")
    fields = json.loads(row["query"])
    fields["categories"] = tuple(fields["categories"])
    return search(connection, account_id, Query(**{**fields, "page": page}))


def delete_saved(connection: sqlite3.Connection, account_id: int, name: str) -> None:
    """Forget a saved search; one that does not exist is no error."""
    with connection:
        connection.execute(
            "DELETE FROM saved_searches WHERE account_id = ? AND name = ?",
            (account_id, name),
        )
