"""Shows it working: starts the filesystem server on this directory and talks to it in both eras."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio
from mcp_server_core import Client, stdio

NEWEST_HANDSHAKE = "2025-11-25"
NEWEST_STATELESS = "2026-07-28"


async def main() -> None:
    """Talk to the server as an old client and as a new one, and print what was said."""
    here = Path.cwd()
    command = [sys.executable, "-m", "mcp_server_filesystem", str(here)]
    print(f"$ mcp-server-filesystem {here}\n")
    for revision in (NEWEST_HANDSHAKE, NEWEST_STATELESS):
        async with Client(stdio(command), revision=revision) as client:
            opened = "initialize" if revision == NEWEST_HANDSHAKE else "server/discover"
            print(
                f"--> {opened:<24} <-- {client.server['name']} {client.server['version']}, revision {client.revision}"
            )
            tools = await client.list_tools()
            print(f"--> tools/list               <-- {', '.join(tool['name'] for tool in tools)}")
            result = await client.call_tool("list_allowed_directories")
            print(f"--> tools/call               <-- {result['content'][0]['text']}")
            await watch_a_change(client, here)
            print()
    print("To use it from a host (Claude Desktop, Cursor, ...), add this to its configuration:\n")
    print(json.dumps(host_entry([str(here)]), indent=2))


async def watch_a_change(client: Client, directory: Path) -> None:
    """Subscribe to a directory, make a file in it, and wait for the notice."""
    uri = directory.as_uri()
    async with client.watch(uri) as changes:
        asked = "subscriptions/listen" if client.stateless else "resources/subscribe"
        print(f"--> {asked:<24} <-- watching {uri}")
        with tempfile.NamedTemporaryFile(dir=directory, prefix=".show-"), anyio.fail_after(10):
            change = await anext(changes)
        print(f"    (a file is made)         <-- notifications/resources/updated {change.uri}")


def host_entry(arguments: Sequence[str]) -> dict[str, object]:
    """The entry of a host's configuration file; an absolute command, because hosts do not know your shell's path."""
    command = Path(sys.executable).with_name("mcp-server-filesystem")
    return {"mcpServers": {"filesystem": {"command": str(command), "args": list(arguments)}}}


if __name__ == "__main__":
    anyio.run(main)
