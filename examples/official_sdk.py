"""Drives all five servers with the client of the official SDK (`mcp`, version 2): `python examples/official_sdk.py`."""

import anyio
from errands import errands
from mcp import Client, StdioServerParameters
from mcp.types import TextContent


async def main() -> None:
    """Start each server, ask it one thing, and print the answer."""
    with errands() as five:
        for errand in five:
            command, *arguments = errand.command
            async with Client(StdioServerParameters(command=command, args=arguments)) as client:
                tools = (await client.list_tools()).tools
                result = await client.call_tool(errand.tool, errand.given)
                first = result.content[0]
                print(f"mcp-server-{errand.server}, revision {client.protocol_version}, {len(tools)} tools")
                print(f"  {errand.tool}: {first.text if isinstance(first, TextContent) else first.type!r}\n")


if __name__ == "__main__":
    anyio.run(main)
