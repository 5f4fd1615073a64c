"""The shapes of the graph, with the field names that the known memory server and its files use."""

from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict


class Learned(TypedDict):
    """When and by which client something was learned, and in which change."""

    at: str
    by: str
    change: int


class Removed(TypedDict):
    """An observation that was taken out again."""

    observation: str
    learned: Learned
    removed: Learned


class Entity(TypedDict):
    """A thing with a name, a type and what is known about it."""

    name: str
    entityType: str
    observations: list[str]


class Detailed(TypedDict):
    """An entity as it is read; times and sources only when asked for."""

    name: str
    entityType: str
    observations: list[str]
    created: NotRequired[Learned]
    learned: NotRequired[list[Learned]]
    removed: NotRequired[list[Removed]]


Relation = TypedDict("Relation", {"from": str, "to": str, "relationType": str})


class Triple(NamedTuple):
    """A relation in Python's words: `from` is none of them."""

    source: str
    target: str
    type: str

    def shown(self) -> Relation:
        """The relation with the names that the wire and the files use."""
        return {"from": self.source, "to": self.target, "relationType": self.type}


def triple(relation: Relation) -> Triple:
    """A relation from the wire or a file."""
    return Triple(relation["from"], relation["to"], relation["relationType"])


class Addition(TypedDict):
    """What is to be added to one entity."""

    entityName: str
    contents: list[str]


class Grown(TypedDict):
    """What was added to one entity."""

    entityName: str
    addedObservations: list[str]


class Retraction(TypedDict):
    """What is to be taken from one entity."""

    entityName: str
    observations: list[str]


class Removal(NamedTuple):
    """How much a deletion took out, and what was not there."""

    entities: int
    observations: int
    relations: int
    missing: list[str]
