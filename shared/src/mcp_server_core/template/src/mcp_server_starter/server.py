"""The table of contents: what this server is made of."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from mcp_server_core import Server

from . import __version__
from .export import export
from .prompts import prompts
from .resources import resources
from .tally import Tally
from .tools import tools


@asynccontextmanager
async def open_tally() -> AsyncGenerator[Tally]:
    """What all handlers share, from the first call to the end."""
    yield Tally()


def build(directories: Sequence[str] = ()) -> Server[Tally]:
    """Put the server together; ValueError when a directory makes no sense."""
    if directories:
        from mcp_server_core.places import parse_grants

        grants = parse_grants(directories)
    else:
        grants = ()  # then the client's roots are the allowed places
    return Server(
        "mcp-server-starter",
        version=__version__,
        title="Starter",
        instructions="Counts things.",
        state=open_tally,
        parts=[tools, export, resources, prompts],
        grants=grants,
    )
