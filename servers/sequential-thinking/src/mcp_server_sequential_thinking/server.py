"""The table of contents: what this server is made of."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread
from mcp_server_core import Server

from . import __version__
from .prompts import prompts
from .resources import announce, resources
from .shelf import Limits, Shelf
from .tools import tools

if TYPE_CHECKING:
    from mcp_server_core.places import Grant


@asynccontextmanager
async def open_shelf(store: str | None, limits: Limits) -> AsyncGenerator[Shelf]:
    """The chains, in memory alone or kept in a file too."""
    if store is None:
        yield Shelf(limits=limits)
        return
    from .journal import Journal  # and what it loads: only for those who keep a file

    shelf = Shelf(await anyio.to_thread.run_sync(Journal, store), limits=limits)
    await anyio.to_thread.run_sync(shelf.refresh)
    yield shelf


def build(
    directories: Sequence[str] = (),
    *,
    store: str | None = None,
    limits: Limits = Limits(),  # noqa: B008 - a NamedTuple does not change
) -> Server[Shelf]:
    """Put the server together; ValueError when a directory makes no sense."""
    return Server(
        "mcp-server-sequential-thinking",
        version=__version__,
        title="Sequential thinking",
        instructions="Keeps numbered thoughts that can be revised, branched, reviewed and exported.",
        state=partial(open_shelf, store, limits),
        parts=[tools, resources, prompts],
        background=[announce],
        grants=_grants(directories),
    )


def _grants(directories: Sequence[str]) -> "Sequence[Grant]":
    if not directories:
        return ()
    from mcp_server_core.places import parse_grants

    return parse_grants(directories)
