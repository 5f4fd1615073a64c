"""The database that is read: orders of a shop, 100,000 rows of six columns."""

import sqlite3
from pathlib import Path

ROWS = 100_000


def make(folder: Path) -> Path:
    """Make the file."""
    path = folder / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, city TEXT, total REAL, items INTEGER, placed TEXT)"
    )
    rows = (
        (at, f"customer {at % 977}", f"city {at % 89}", at * 1.25, at % 7, f"2026-01-{at % 28 + 1:02d}")
        for at in range(ROWS)
    )
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    connection.commit()
    connection.close()
    return path
