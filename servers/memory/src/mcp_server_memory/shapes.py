"""The shapes of the graph, with the field names that the known memory server and its files use.

The dictionaries have comments in place of docstrings: a docstring would go into every tool's schema, and cost each
conversation its length.
"""

from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict


class Learned(NamedTuple):
    """When, by which client and in which change something happened."""

    at: str
    by: str
    change: int

    def __str__(self) -> str:
        return f"{self.at} by {self.by} (change {self.change})"


class Removed(NamedTuple):
    """An observation that was taken out again."""

    observation: str
    learned: Learned
    removed: Learned


# A thing with a name, a type and what is known about it.
class Entity(TypedDict):
    name: str
    entityType: str
    observations: list[str]


# An entity as it is read. `learned` has one line for each observation; all three come only when asked for.
class Detailed(TypedDict):
    name: str
    entityType: str
    observations: list[str]
    created: NotRequired[str]
    learned: NotRequired[list[str]]
    removed: NotRequired[list[str]]


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


# What is to be added to one entity.
class Addition(TypedDict):
    entityName: str
    contents: list[str]


# What was added to one entity.
class Grown(TypedDict):
    entityName: str
    addedObservations: list[str]


# What is to be taken from one entity.
class Retraction(TypedDict):
    entityName: str
    observations: list[str]


class Removal(NamedTuple):
    """How much a deletion took out, and what was not there."""

    entities: int
    observations: int
    relations: int
    missing: list[str]
