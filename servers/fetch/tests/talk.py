"""Short words for what most tests do: ask the server for a page, and look at what it says."""

from typing import Any

from mcp_server_core import Client


async def fetch(client: Client, url: str, **arguments: Any) -> str:
    """The text of a page; fails if the tool does."""
    result = await client.call_tool("fetch", {"url": url, **arguments})
    assert not result.get("isError"), result["content"][0]["text"]
    return result["content"][0]["text"]


async def refusal(client: Client, url: str, **arguments: Any) -> str:
    """Why a page is not fetched; fails if it is."""
    result = await client.call_tool("fetch", {"url": url, **arguments})
    assert result.get("isError"), result["content"][0]["text"]
    return result["content"][0]["text"]


def inside(answer: str) -> str:
    """What stands between the marks, without the lines that the server put in front of it."""
    head, _, rest = answer.partition("\n[page ")
    mark, _, rest = rest.partition("]\n")
    text, found, _ = rest.partition(f"\n[end of page {mark}]")
    assert found, head
    if text.startswith(("Title: ", "Sections (")):
        text = text.partition("---\n")[2]
    return text
