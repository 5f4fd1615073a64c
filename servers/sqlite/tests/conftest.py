"""What all tests of this server share."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from mcp_server_core.testing import REVISIONS, Revision


@pytest.fixture
def anyio_backend() -> str:
    """aiosqlite belongs to asyncio, so this server does."""
    return "asyncio"


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small shop."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT DEFAULT 'Bern');
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id), total REAL
            );
            CREATE INDEX orders_by_customer ON orders (customer);
            CREATE VIEW big_orders AS SELECT * FROM orders WHERE total > 100;
            INSERT INTO customers (name) VALUES ('Ada'), ('Bob'), ('Cleo');
            INSERT INTO orders (customer, total) VALUES (1, 10.5), (1, 200), (2, 30);
            """
        )
    return path
