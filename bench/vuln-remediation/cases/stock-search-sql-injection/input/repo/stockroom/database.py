"""The database and its tables."""

import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS accounts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    api_key TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS suppliers (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    UNIQUE (account_id, name)
);
CREATE TABLE IF NOT EXISTS parts (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    supplier_id INTEGER NOT NULL REFERENCES suppliers (id),
    sku TEXT NOT NULL,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity >= 0),
    price_cents INTEGER NOT NULL,
    updated TEXT NOT NULL,
    UNIQUE (account_id, sku)
);
CREATE TABLE IF NOT EXISTS saved_searches (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    PRIMARY KEY (account_id, name)
);
"""


def connect(path: str | Path) -> sqlite3.Connection:
    """Open a database, and create the tables that it lacks."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(SCHEMA)
    return connection
