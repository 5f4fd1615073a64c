"""What the handlers share while the server runs. Light: the web behind it is loaded when the state is opened."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp_server_core import Context, ToolError

from .settings import Settings

if TYPE_CHECKING:
    from .web import Errands, Web


class State:
    """The web, and how far a client's roots count."""

    __slots__ = ("_wants_roots", "web")

    def __init__(self, web: "Web", wants_roots: Callable[[], bool]) -> None:
        self.web = web
        self._wants_roots = wants_roots

    async def errands(self, ctx: "Context[State]", *, by_user: bool = False) -> "Errands":
        """On whose behalf a page is fetched: within the client's roots, if it has any on the web."""
        from .web import Errands

        roots = await ctx.roots() if self._wants_roots() else []
        prefixes = tuple(root.uri for root in roots if root.uri.lower().startswith(("http://", "https://")))
        return Errands(by_user, prefixes or None, ctx.progress)


@asynccontextmanager
async def open_state(settings: Settings, wants_roots: Callable[[], bool]) -> AsyncGenerator[State]:
    """Open the web; a ToolError if what the environment says makes no sense."""
    from .web import open_web

    try:
        opening = open_web(settings)
        async with opening as web:
            yield State(web, wants_roots)
    except ValueError as error:
        raise ToolError(f"check the options and the proxy variables: {error}") from None
