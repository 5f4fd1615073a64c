"""What the memory is and does: entities with observations, relations between them, and who said what when.

Knows nothing of MCP and nothing of how things are stored: a Store (store.py) keeps them, edits.py has the rules of
change, pages.py cuts what is read into pieces that fit.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from . import edits, pages
from .edits import Added, Created, Related
from .pages import Bounds, Page, Position
from .query import parse_query
from .shapes import Addition, Entity, Removal, Retraction, Triple
from .store import Draft, GraphError, Reader, Source, Store, Told, Written

T = TypeVar("T")
MOST_NAMES = 1_000


class Graph:
    """The memory of one store. Every change is one transaction: it happens as a whole or not at all."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def create_entities(self, entities: Sequence[Entity], client: str) -> Written[Created]:
        """Add the entities whose names are new."""
        return await self._change("create_entities", client, partial(edits.create_entities, entities))

    async def create_relations(self, relations: Sequence[Triple], client: str) -> Written[Related]:
        """Add the relations that are new; both ends must be known."""
        return await self._change("create_relations", client, partial(edits.create_relations, relations))

    async def add_observations(self, additions: Sequence[Addition], client: str) -> Written[Added]:
        """Add what is new about known entities."""
        return await self._change("add_observations", client, partial(edits.add_observations, additions))

    async def delete_entities(self, names: Sequence[str], client: str) -> Written[Removal]:
        """Take entities out of the graph, and their relations with them."""
        return await self._change("delete_entities", client, partial(edits.delete_entities, names))

    async def delete_observations(self, deletions: Sequence[Retraction], client: str) -> Written[Removal]:
        """Take observations out of the graph."""
        return await self._change(
            "delete_observations", client, partial(edits.delete_observations, deletions)
        )

    async def delete_relations(self, relations: Sequence[Triple], client: str) -> Written[Removal]:
        """Take relations out of the graph."""
        return await self._change("delete_relations", client, partial(edits.delete_relations, relations))

    async def undo(self, number: int | None, client: str) -> Written[Told]:
        """Take back one change, the newest that was not taken back yet unless told which."""
        return await self._change("undo", client, lambda draft: draft.take_back(number))

    async def merge(
        self, entities: Sequence[Entity], relations: Sequence[Triple], client: str, stop: Callable[[], bool]
    ) -> Written[edits.Merged]:
        """Add what a file holds and the graph does not; nothing is taken away."""
        return await self._change(
            "import_graph", client, partial(edits.merge, entities, relations, stop=stop)
        )

    async def read(self, bounds: Bounds, start: Position | None) -> Page:
        """The graph from the beginning, as much as fits."""
        return await self.store.read(partial(pages.read_all, bounds=bounds, start=start))

    async def search(self, text: str, bounds: Bounds, start: Position | None) -> Page:
        """The entities that a query finds, the best first."""
        query = parse_query(text)
        return await self.store.read(partial(pages.find, query=query, bounds=bounds, start=start))

    async def open(
        self, names: Sequence[str], bounds: Bounds, start: Position | None, *, details: bool
    ) -> Page:
        """The entities of these names, with times and sources on request."""
        _check_count(names)
        return await self.store.read(
            partial(pages.open_names, names=names, bounds=bounds, start=start, details=details)
        )

    async def neighbors(
        self, names: Sequence[str], hops: int, bounds: Bounds, start: Position | None
    ) -> Page:
        """What can be reached from these entities in so many steps, the nearest first."""
        _check_count(names)
        return await self.store.read(
            partial(pages.around, names=names, hops=hops, bounds=bounds, start=start)
        )

    async def complete(self, typed: str) -> list[str]:
        """Names that begin like this."""
        return await self.store.read(lambda reader: reader.names_like(typed, 101))

    async def exported(self, write: Callable[[Iterator[Entity], Iterator[Triple]], T]) -> T:
        """Hand the whole graph, in the order it was learned and as of one moment, to a writer."""

        def hand_over(reader: Reader) -> T:
            return write(reader.all_entities(), reader.all_relations())

        return await self.store.read(hand_over)

    async def _change(self, act: str, client: str, job: Callable[[Draft], T]) -> Written[T]:
        return await self.store.write(job, Source(client, act))


def _check_count(names: Sequence[str]) -> None:
    if len(names) > MOST_NAMES:
        raise GraphError(
            f"{len(names)} names are too many for one call; ask for at most {MOST_NAMES} at a time."
        )
