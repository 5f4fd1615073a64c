"""Clients that nobody here wrote, at work with the sqlite server, over stdio and HTTP."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from .errand import (
    Answers,
    call,
    complete,
    every_errand_client,
    list_all,
    prompt,
    read,
    run_errand,
    run_program,
    watch,
)
from .foreign import Foreign

TABLE = "sqlite://{database}/tables/{table}"


@every_errand_client
def test_a_foreign_client_works_through_the_whole_server(foreign: Foreign, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    other = f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('DELETE FROM t WHERE id = 1'); c.commit()"
    steps = [
        list_all("tools"),
        call("create_table", query="CREATE TABLE t (id INTEGER PRIMARY KEY, big INTEGER, data BLOB)"),
        call(
            "write_query",
            query="INSERT INTO t (big, data) VALUES (?, ?), (1, NULL)",
            params=[{"$int": "9007199254740993"}, {"$blob": "AP8="}],
        ),
        call("read_query", query="SELECT * FROM t ORDER BY id"),
        call("read_query", query="DELETE FROM t"),
        call("preview_write", query="DELETE FROM t WHERE id = 2"),
        call("schema_overview"),
        read("sqlite://shop/tables/t"),
        complete(TABLE, "database", "sh"),
        prompt("mcp-demo", topic="a shop"),
        watch("sqlite://shop/tables/t", run_program([sys.executable, "-c", other])),
        call("write_query", query="DROP TABLE t"),
    ]
    agree = {"action": "accept", "content": {"run": True}}
    command = [sys.executable, "-m", "mcp_server_sqlite", "--db-path", str(path), "--confirm"]
    seen = run_errand(foreign, command, steps, tmp_path, Answers(elicit=[agree, agree]))
    assert seen.revision == foreign.revision
    assert {"read_query", "write_query"} <= {tool["name"] for tool in seen.results[0]["tools"]}
    assert seen.text(1) == "Created t."
    assert json.loads(seen.text(2))["affected_rows"] == 2
    rows = [[1, {"$int": "9007199254740993"}, {"$blob": "AP8="}], [2, 1, None]]
    assert json.loads(seen.text(3)) == seen.results[3]["structuredContent"]
    assert seen.results[3]["structuredContent"]["rows"] == rows
    assert seen.results[4]["isError"] is True
    assert json.loads(seen.text(5))["affected_rows"] == 1
    assert json.loads(seen.text(6))["tables"][0]["name"] == "t"
    assert json.loads(seen.results[7]["contents"][0]["text"])["rows"] == 2
    assert seen.results[8]["completion"]["values"] == ["shop"]
    assert "a shop" in seen.results[9]["messages"][0]["content"]["text"]
    assert "sqlite://shop/tables/t" in seen.results[10]
    assert json.loads(seen.text(11)) == {"affected_rows": 0}
    assert [method for method, _ in seen.questions] == ["elicitation/create"] * 2
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
