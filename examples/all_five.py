"""Drives all five servers with our client: `python examples/all_five.py`."""

import anyio
from errands import errands
from mcp_server_core import Client, stdio


async def main() -> None:
    """Start each server, ask it one thing, and print the answer."""
    with errands() as five:
        for errand in five:
            async with Client(
                stdio(errand.command)
            ) as client:  # finds out by itself which revision they share
                tools = await client.list_tools()
                result = await client.call_tool(errand.tool, errand.given)
                print(f"{client.server['name']}, revision {client.revision}, {len(tools)} tools")
                print(f"  {errand.tool}: {result['content'][0]['text']!r}\n")


if __name__ == "__main__":
    anyio.run(main)
