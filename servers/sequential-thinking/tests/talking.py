"""Short words for long calls, for the tests of this server."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from mcp_server_core import Client


async def think(client: Client, number: Any = 1, text: Any = "so", **more: Any) -> dict[str, Any]:
    """The result of one thought."""
    arguments = {"thought": text, "thoughtNumber": number, "totalThoughts": 5, "nextThoughtNeeded": True}
    return await client.call_tool("sequentialthinking", {**arguments, **more})


async def noted(client: Client, number: Any = 1, text: str = "so", **more: Any) -> dict[str, Any]:
    """What a thought that was taken came to."""
    result = await think(client, number, text, **more)
    assert "isError" not in result, result
    return data_of(result)


def data_of(result: dict[str, Any]) -> dict[str, Any]:
    """The data of a result, from whichever half the revision has."""
    said = json.loads(text_of(result))
    assert result.get("structuredContent", said) == said, "each half is enough alone"
    return said


def text_of(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    return block["text"]


async def review(client: Client, **arguments: Any) -> str:
    """The text of a review."""
    return text_of(await client.call_tool("review_thinking", arguments))


@contextmanager
def serving(*options: str) -> Generator[str]:
    """The URL of a server that runs over HTTP."""
    command = [sys.executable, "-m", "mcp_server_sequential_thinking", "--transport", "http", "--port", "0"]
    server = subprocess.Popen(
        [*command, *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        announced = server.stderr.readline()
        assert " serves MCP at " in announced, announced
        yield announced.split()[-1]
    finally:
        server.terminate()
        server.communicate(timeout=20)
