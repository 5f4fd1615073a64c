"""A database of the size of Chinook, explored by the steps of the demo prompt."""

from pathlib import Path

import pytest
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.server import build

from .asking import call, text

pytestmark = pytest.mark.anyio

TABLES = {
    "artists": "CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "albums": "CREATE TABLE albums (id INTEGER PRIMARY KEY, title TEXT, artist INTEGER NOT NULL REFERENCES artists (id))",
    "tracks": "CREATE TABLE tracks (id INTEGER PRIMARY KEY, name TEXT, album INTEGER REFERENCES albums (id), milliseconds INTEGER, price REAL)",
    "customers": "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT)",
    "invoices": "CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), day TEXT)",
    "lines": "CREATE TABLE lines (id INTEGER PRIMARY KEY, invoice INTEGER REFERENCES invoices (id), track INTEGER REFERENCES tracks (id), price REAL)",
}
NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ?) "
ROWS = {
    "artists": (275, "SELECT x, 'artist ' || x FROM n"),
    "albums": (347, "SELECT x, 'album ' || x, 1 + x % 275 FROM n"),
    "tracks": (3503, "SELECT x, 'track ' || x, 1 + x % 347, 100000 + x * 7919 % 300000, 0.99 FROM n"),
    "customers": (59, "SELECT x, 'customer ' || x, substr('BrazilGermanyFrance', 1 + x % 3 * 6, 6) FROM n"),
    "invoices": (412, "SELECT x, 1 + x % 59, date('2025-01-01', (x % 365) || ' days') FROM n"),
    "lines": (2240, "SELECT x, 1 + x % 412, 1 + x * 31 % 3503, 0.99 FROM n"),
}


async def test_the_demo_runs_from_an_empty_file_to_its_insights(revision: Revision, tmp_path: Path) -> None:
    async with connect(build([str(tmp_path / "music.db")]), revision=revision) as client:
        await client.get_prompt("mcp-demo", {"topic": "a music shop"})
        assert (await call(client, "schema_overview"))["tables"] == []
        for sql in TABLES.values():
            await text(client, "create_table", query=sql)
        for table, (count, rows) in ROWS.items():
            done = await call(
                client, "write_query", query=f"INSERT INTO {table} {NUMBERS}{rows}", params=[count]
            )
            assert done["affected_rows"] == count
        shown = {entry["name"]: entry for entry in (await call(client, "schema_overview"))["tables"]}
        assert {name: entry["rows"] for name, entry in shown.items()} == {
            name: count for name, (count, _) in ROWS.items()
        }
        assert shown["lines"]["foreign_keys"] == ["(track) -> tracks(id)", "(invoice) -> invoices(id)"]
        best = await call(
            client,
            "read_query",
            query="SELECT artists.name, round(sum(lines.price), 2) AS sales FROM lines JOIN tracks ON tracks.id = track "
            "JOIN albums ON albums.id = album JOIN artists ON artists.id = artist GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3",
        )
        assert len(best["rows"]) == 3
        plan = await text(client, "explain_query", query="SELECT * FROM lines WHERE track = 5")
        assert plan == "SCAN lines"
        await text(client, "append_insight", insight=f"{best['rows'][0][0]} sells best.")
        seen = await call(
            client,
            "preview_write",
            query="UPDATE tracks SET price = price * 1.1 WHERE milliseconds > ?",
            params=[300000],
        )
        assert seen["affected_rows"] > 0
        done = await call(
            client,
            "write_query",
            query="UPDATE tracks SET price = price * 1.1 WHERE milliseconds > ?",
            params=[300000],
        )
        assert done["affected_rows"] == seen["affected_rows"]
        (memo,) = await client.read_resource("memo://insights")
        assert "sells best" in memo["text"]
