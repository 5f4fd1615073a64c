"""The table of contents: what this server is made of."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from mcp_server_core import Server

from . import __version__
from .graph import Graph
from .resources import announce, resources
from .tools import tools

INSTRUCTIONS = (
    "Long-term memory: entities with observations, and relations between them. Search before you answer questions "
    "about people, projects or preferences; store what should be known next time."
)


@asynccontextmanager
async def open_graph(given: str | None) -> AsyncGenerator[Graph]:
    """The memory in the store that was asked for, or in this user's own."""
    from .location import locate
    from .sqlite.store import open_sqlite

    place = locate(given)
    async with open_sqlite(place.store, imports=place.imports) as store:
        yield Graph(store)


def build(store: str | None = None, directories: Sequence[str] = ()) -> Server[Graph]:
    """Put the server together; ValueError when a directory makes no sense."""
    if directories:
        from mcp_server_core.places import parse_grants

        grants = parse_grants(directories)
    else:
        grants = ()
    return Server(
        "mcp-server-memory",
        version=__version__,
        title="Memory",
        instructions=INSTRUCTIONS,
        state=partial(open_graph, store),
        parts=[tools, resources],
        background=[announce],
        grants=grants,
    )
