"""The graph as of one moment, read inside one transaction."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..query import Query
from ..shapes import Entity, Learned, Removed, Triple
from ..store import Edge, Node, Observed
from . import history, names, searching

_NODE = "SELECT entity.id, name.text, entity.type FROM entity JOIN name ON name.id = entity.name"
_EDGE = (
    "SELECT relation.id, a.text, b.text, relation.type FROM relation"
    " JOIN name AS a ON a.id = relation.source JOIN name AS b ON b.id = relation.target"
)


class SqliteReader:
    """Answers questions about the graph. Used by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    # --- entities ------------------------------------------------------------------------------------------------

    def nodes(self, after: int, limit: int) -> list[Node]:
        return self._nodes("entity.id > ? AND entity.gone IS NULL ORDER BY entity.id LIMIT ?", after, limit)

    def find(self, names: Sequence[str]) -> list[Node]:
        found: dict[int, Node] = {}
        for name in names:
            for node in self._nodes("name.text = ? AND entity.gone IS NULL", name):
                found[node.id] = node
        return list(found.values())

    def similar(self, name: str) -> list[str]:
        return names.similar(self.connection, name)

    def names_like(self, typed: str, limit: int) -> list[str]:
        return names.names_like(self.connection, typed, limit)

    def search(self, query: Query, limit: int) -> list[Node]:
        found = searching.search(self.connection, query, limit)
        return [node for entity in found for node in self._nodes("entity.id = ?", entity)]

    def around(self, nodes: Sequence[Node], hops: int, limit: int) -> list[Node]:
        """Breadth first; the frontier of a step is looked at in the order it was reached."""
        seen = {node.id: node for node in nodes}
        frontier = list(nodes)
        for _ in range(hops):
            reached: list[Node] = []
            for node in frontier:
                for other in self._beside(node, limit):
                    if other.id not in seen:
                        seen[other.id] = other
                        reached.append(other)
                if len(seen) >= limit:
                    return list(seen.values())[:limit]
            frontier = reached
        return list(seen.values())[:limit]

    def _beside(self, node: Node, limit: int) -> list[Node]:
        return self._nodes(
            "entity.gone IS NULL AND entity.name IN ("
            " SELECT target FROM relation WHERE gone IS NULL AND source = (SELECT name FROM entity WHERE id = ?1)"
            " UNION SELECT source FROM relation WHERE gone IS NULL AND target = (SELECT name FROM entity WHERE id = ?1))"
            " ORDER BY entity.id LIMIT ?2",
            node.id,
            limit,
        )

    def _nodes(self, condition: str, *values: object) -> list[Node]:
        rows = self.connection.execute(f"{_NODE} WHERE {condition}", values)
        return [Node(*row) for row in rows]

    # --- what is known about them --------------------------------------------------------------------------------

    def observations(self, entity: int, after: int) -> Iterator[Observed]:
        rows = self.connection.execute(
            "SELECT id, text FROM observation WHERE entity = ? AND id > ? AND gone IS NULL ORDER BY id",
            (entity, after),
        )
        return (Observed(*row) for row in rows)

    def edges_from(self, name: str, after: int) -> Iterator[Edge]:
        return self._edges(
            "relation.source = (SELECT id FROM name WHERE text = ?) AND relation.id > ?", name, after
        )

    def edges_of(self, name: str, after: int) -> Iterator[Edge]:
        # Two questions, each with an index of its own: an OR would read all relations.
        end = "SELECT id FROM relation WHERE gone IS NULL AND {} = (SELECT id FROM name WHERE text = ?1) AND id > ?2"
        both = " UNION ".join(end.format(column) for column in ("source", "target"))
        return self._edges(f"relation.id IN ({both})", name, after)

    def loose_edges(self, after: int) -> Iterator[Edge]:
        return self._edges(
            "relation.id > ? AND NOT EXISTS"
            " (SELECT 1 FROM entity WHERE entity.name = relation.source AND entity.gone IS NULL)",
            after,
        )

    def _edges(self, condition: str, *values: object) -> Iterator[Edge]:
        rows = self.connection.execute(
            f"{_EDGE} WHERE {condition} AND relation.gone IS NULL ORDER BY relation.id", values
        )
        return (Edge(row[0], Triple(*row[1:])) for row in rows)

    # --- when and by whom ----------------------------------------------------------------------------------------

    def created(self, entity: int) -> Learned:
        return history.created(self.connection, entity)

    def learned(self, entity: int, observations: Sequence[int]) -> list[Learned]:
        return history.learned(self.connection, observations)

    def removed(self, entity: int, limit: int) -> list[Removed]:
        return history.removed(self.connection, entity, limit)

    def deleted(self, name: str) -> Learned | None:
        return history.deleted(self.connection, name)

    def notices(self) -> list[str]:
        return history.notices(self.connection)

    def last_change(self) -> int:
        """The number of the newest change; 0 when there is none."""
        return history.last_change(self.connection)

    def touched(self, after: int) -> frozenset[str]:
        """The names that changes with higher numbers touched."""
        return history.touched(self.connection, after)

    # --- everything ----------------------------------------------------------------------------------------------

    def all_entities(self) -> Iterator[Entity]:
        rows = self.connection.execute(
            "SELECT entity.id, name.text, entity.type, observation.text FROM entity"
            " JOIN name ON name.id = entity.name LEFT JOIN observation"
            " ON observation.entity = entity.id AND observation.gone IS NULL"
            " WHERE entity.gone IS NULL ORDER BY entity.id, observation.id"
        )
        for (_, name, kind), group in groupby(rows, key=lambda row: row[:3]):
            texts = [row[3] for row in group]
            yield {
                "name": name,
                "entityType": kind,
                "observations": [text for text in texts if text is not None],
            }

    def all_relations(self) -> Iterator[Triple]:
        return (edge.triple for edge in self._edges("1"))
