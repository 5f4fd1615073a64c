"""What a model may read and watch: the whole graph, and each entity."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import anyio
from mcp_server_core import Context, McpError, Registry, ResourceNotFound, Server

from .graph import Graph
from .pages import Bounds, Page
from .shapes import Entity, Relation
from .store import GraphError

resources = Registry()
GRAPH = "memory://knowledge-graph"
ENTITY = "memory://entities/"
_MOST_ENTITIES = 100_000


@resources.resource(GRAPH, "Knowledge graph", mime_type="application/json", watch=True)
async def knowledge_graph(ctx: Context[Graph]) -> str:
    """Entities and relations, from the beginning and as many as fit; read_graph pages through all."""
    with _explained():
        page = await ctx.state.read(Bounds(ctx.max_chars - 500, _MOST_ENTITIES), None)
    more = "There is more: page through it with the tool read_graph." if page.next else None
    return _json(_graph(page), more)


@resources.resource(ENTITY + "{name}", "Entity", mime_type="application/json", watch=True)
async def entity(name: str, ctx: Context[Graph]) -> str:
    """One entity with its relations, and when and by which client each fact was learned."""
    with _explained():
        page = await ctx.state.open([name], Bounds(ctx.max_chars - 500, 1), None, details=True)
    if not page.entities:
        raise ResourceNotFound(ENTITY + _quote(name))
    more = "There is more: page through it with the tool open_nodes." if page.next else None
    return _json(_graph(page), more)


@resources.complete(entity, "name")
async def names(typed: str, ctx: Context[Graph]) -> list[str]:
    with _explained():
        return await ctx.state.complete(typed)


async def announce(server: Server[Graph], graph: Graph) -> None:
    """Tell whoever watches what this process or another one changed."""
    watched = Watched()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_follow, server, watched)
        while True:
            if not watched:
                graph.store.stop_listening()
                await watched.some.wait()
            for uri in watched.among(await graph.store.changed_names()):
                await server.changed(uri)


async def _follow(server: Server[Graph], watched: "Watched") -> None:
    async for uris in server.watching():
        watched.become(uris)


class Watched:
    """The URIs that somebody watches, by the name of the entity that they mean. Clients may spell a URI their way."""

    def __init__(self) -> None:
        self.some = anyio.Event()
        self._uris: dict[str, set[str]] = {}
        self._graph = False

    def __bool__(self) -> bool:
        return self._graph or bool(self._uris)

    def become(self, uris: Iterable[str]) -> None:
        """Take over the present set."""
        self._uris, self._graph = {}, False
        for uri in uris:
            if uri == GRAPH:
                self._graph = True
            elif uri.startswith(ENTITY):
                self._uris.setdefault(_unquote(uri[len(ENTITY) :]), set()).add(uri)
        if self:
            self.some.set()
        elif self.some.is_set():
            self.some = anyio.Event()

    def among(self, names: frozenset[str]) -> list[str]:
        """The watched URIs that a change of these names concerns."""
        concerned = [uri for name in names & self._uris.keys() for uri in self._uris[name]]
        return [*concerned, GRAPH] if names and self._graph else concerned


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except GraphError as error:
        raise McpError(str(error)) from None


def _graph(page: Page) -> dict[str, Any]:
    entities: list[Entity] | list[Any] = page.entities
    relations: list[Relation] = [triple.shown() for triple in page.relations]
    return {"entities": entities, "relations": relations}


def _json(data: dict[str, Any], more: str | None) -> str:
    import json

    if more is not None:
        data |= {"truncated": True, "next": more}
    return json.dumps(data, ensure_ascii=False)


def _quote(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


def _unquote(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text)
