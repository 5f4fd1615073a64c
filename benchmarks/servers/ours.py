"""The echo server written with our core."""

from mcp_server_core import Registry, Server, cli

tools = Registry()


@tools.tool("Echo", read_only=True, open_world=False)
async def echo(text: str) -> str:
    """Say the text again."""
    return text


def build() -> Server[None]:
    return Server("bench", version="1", parts=[tools], max_result_chars=10_000_000)


if __name__ == "__main__":
    cli.serve(build())
