"""What the graph asks of whoever keeps it. A second engine implements these three and nothing else changes.

Nothing here says how: no files, no SQL, no threads. Jobs run off the event loop; a write job runs alone, and its
change is on disk when `write` returns.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from .query import Query
from .shapes import Entity, Learned, Removed, Triple

T = TypeVar("T")


class GraphError(Exception):
    """A failure in words for whoever asked: what is wrong, and what to do about it."""


class Source(NamedTuple):
    """Who makes a change, and by which act."""

    client: str
    act: str


class Node(NamedTuple):
    """An entity without its observations."""

    id: int
    name: str
    type: str


class Observed(NamedTuple):
    """One observation."""

    id: int
    text: str


class Edge(NamedTuple):
    """One relation."""

    id: int
    triple: Triple


class Written(NamedTuple, Generic[T]):
    """What a write job returned, and the number of its change: None when nothing changed."""

    result: T
    change: int | None


class Told(NamedTuple):
    """What was taken back, in words."""

    undone: int
    message: str


class Draft(Protocol):
    """One change while it is being made. Other changes wait; nobody sees it before it is complete."""

    def find(self, name: str) -> int | None:
        """The entity that has this name now."""
        ...

    def similar(self, name: str) -> list[str]:
        """Names of entities that look like this one: case, accents and normalisation aside."""
        ...

    def add_entity(self, name: str, type: str) -> int:
        """Add an entity; there must be none of that name."""
        ...

    def has_type(self, entity: int, type: str) -> bool:
        """Whether an entity is of this type."""
        ...

    def has_observation(self, entity: int, text: str) -> bool:
        """Whether this is known already."""
        ...

    def add_observation(self, entity: int, text: str) -> None:
        """Add an observation after those that are there."""
        ...

    def has_relation(self, relation: Triple) -> bool:
        """Whether this is known already."""
        ...

    def add_relation(self, relation: Triple) -> None:
        """Add a relation; whether its ends are entities is not asked here."""
        ...

    def drop_entity(self, entity: int) -> tuple[int, int]:
        """Take out an entity with its observations and relations, and count those."""
        ...

    def drop_observation(self, entity: int, text: str) -> int:
        """Take out an observation, and count how often it was there."""
        ...

    def drop_relation(self, relation: Triple) -> int:
        """Take out a relation, if it is there."""
        ...

    def take_back(self, number: int | None) -> Told:
        """Undo a change."""
        ...


class Reader(Protocol):
    """The graph as of one moment."""

    def nodes(self, after: int, limit: int) -> list[Node]:
        """Entities in the order they were learned, from behind this id."""
        ...

    def find(self, names: Sequence[str]) -> list[Node]:
        """The entities of these names, in that order, each once."""
        ...

    def similar(self, name: str) -> list[str]:
        """Names of entities that look like this one: case, accents and normalisation aside."""
        ...

    def search(self, query: Query, limit: int) -> list[Node]:
        """The entities that a query finds, the best first."""
        ...

    def around(self, nodes: Sequence[Node], hops: int, limit: int) -> list[Node]:
        """The entities within so many steps, the nearest first, the given ones among them."""
        ...

    def observations(self, entity: int, after: int) -> Iterator[Observed]:
        """What is known about an entity, from behind this id."""
        ...

    def edges_from(self, name: str, after: int) -> Iterator[Edge]:
        """The relations that start at a name."""
        ...

    def edges_of(self, name: str, after: int) -> Iterator[Edge]:
        """The relations that start or end at a name."""
        ...

    def loose_edges(self, after: int) -> Iterator[Edge]:
        """Relations that start at a name which is no entity; files of the known server may hold such."""
        ...

    def created(self, entity: int) -> Learned:
        """When and by whom an entity was made known."""
        ...

    def learned(self, entity: int, observations: Sequence[int]) -> list[Learned]:
        """When and by whom these observations were made."""
        ...

    def removed(self, entity: int, limit: int) -> list[Removed]:
        """Observations that were taken out of an entity, the newest first."""
        ...

    def deleted(self, name: str) -> Learned | None:
        """When and by whom the entity of this name was deleted last."""
        ...

    def names_like(self, typed: str, limit: int) -> list[str]:
        """Names of entities that begin like this."""
        ...

    def all_entities(self) -> Iterator[Entity]:
        """Everything, in the order it was learned."""
        ...

    def all_relations(self) -> Iterator[Triple]:
        """Everything, in the order it was learned."""
        ...

    def notices(self) -> list[str]:
        """What the user should know about the store itself, such as a damaged one that was set aside."""
        ...


class Store(Protocol):
    """Keeps a graph."""

    async def read(self, job: Callable[[Reader], T]) -> T:
        """Run a reading job off the event loop."""
        ...

    async def write(self, job: Callable[[Draft], T], source: Source) -> Written[T]:
        """Run a writing job; when this returns, its change survives a crash and a power failure."""
        ...

    async def changed_names(self) -> frozenset[str]:
        """Wait a moment; names that changes touched since the last call, by this process or another."""
        ...

    def stop_listening(self) -> None:
        """Nobody wants to know of changes for now; our own need not be told later."""
        ...
