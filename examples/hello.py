"""A server in ten lines: `python examples/hello.py` waits for a client."""

from mcp_server_core import Registry, Server, cli

tools = Registry()


@tools.tool("Greet", read_only=True, open_world=False)
async def greet(name: str) -> str:
    """Greet somebody by name."""
    return f"Hello, {name}!"


if __name__ == "__main__":
    cli.serve(Server("hello", version="1.0", parts=[tools]))
