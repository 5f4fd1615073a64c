"""Short ways to ask the server something in a test."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from mcp_server_core import Client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of a result that is no error; both halves say the same."""
    result = await client.call_tool(tool, arguments)
    assert not result.get("isError"), result["content"][0]["text"]
    text = result["content"][0]["text"]
    data = result.get("structuredContent", json.loads(text))
    assert json.loads(text) == data
    return data


async def text(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a result that is no error."""
    result = await client.call_tool(tool, arguments)
    assert not result.get("isError"), result["content"][0]["text"]
    return result["content"][0]["text"]


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a result that is an error."""
    result = await client.call_tool(tool, arguments)
    assert result.get("isError"), result
    return result["content"][0]["text"]


def ask(path: Path, sql: str) -> list[Any]:
    """What a database says to somebody else."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def change(path: Path, sql: str) -> None:
    """Somebody else changes a database."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql)


def dump(path: Path) -> str:
    """Everything in a database."""
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump())
