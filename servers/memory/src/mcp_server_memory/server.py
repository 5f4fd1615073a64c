"""The table of contents: what this server is made of."""

from mcp_server_core import Server

from . import __version__
from .tools import tools


def build() -> Server[None]:
    """Put the server together."""
    return Server("mcp-server-memory", version=__version__, title="Memory", parts=[tools])
