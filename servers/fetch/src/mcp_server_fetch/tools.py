"""What a model may do with this server."""

from mcp_server_core import Registry

from . import __version__

tools = Registry()


@tools.tool("About this server", read_only=True, open_world=False)
async def about() -> str:
    """Say what this server is, and what it can do in this version."""
    return (
        f"mcp-server-fetch {__version__}. Brings web pages to a model, as Markdown. "
        "This version offers no more than this description."
    )
