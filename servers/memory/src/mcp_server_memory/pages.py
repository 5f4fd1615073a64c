"""Reading in pieces that fit: entities with what is known about them and their relations, up to a budget.

What is read is one long row of items: for each entity its observations, then its relations. A Position says where
in that row a page ended, down to the character of a long observation, so that nothing is ever out of reach.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .edits import shown
from .query import Query
from .shapes import Detailed, Triple
from .store import Edge, Node, Reader

_OVERHEAD = 60  # characters of JSON around the text of one entity or relation
_SMALLEST_PIECE = 200
_MOST_REMOVED = 50
_MOST_MISSING = 10
_BATCH = 200
LOOSE = 1 << 62
"""Stands for the relations at the end that start at no entity."""


class Bounds(NamedTuple):
    """How much one page may hold: characters of JSON, and entities."""

    chars: int
    entities: int


class Position(NamedTuple):
    """Where to go on: at which entity, behind which observation or relation, at which character."""

    key: int = 0
    relations: bool = False
    after: int = 0
    offset: int = 0


class Page(NamedTuple):
    """What fitted, where the rest begins, and what else there is to say."""

    entities: list[Detailed]
    relations: list[Triple]
    next: Position | None
    notices: list[str]


class Keyed(NamedTuple):
    """An entity and its place in the row."""

    key: int
    node: Node


def read_all(reader: Reader, *, bounds: Bounds, start: Position | None) -> Page:
    """Every entity in the order it was learned, each with the relations that start there."""
    begin = start or Position()
    filler = _Filler(reader, bounds, begin, reader.edges_from)
    filler.fill(_from_id(reader, begin.key))
    if filler.next is None:
        filler.add_loose()
    return filler.page()


def find(reader: Reader, *, query: Query, bounds: Bounds, start: Position | None) -> Page:
    """What a query finds, the best first, with all relations."""
    begin = start or Position()
    found = reader.search(query, begin.key + bounds.entities + 1)
    return _listed(reader, found, bounds, begin)


def open_names(
    reader: Reader, *, names: Sequence[str], bounds: Bounds, start: Position | None, details: bool
) -> Page:
    """The entities of these names, with all relations; what is not there is named."""
    found = reader.find(names)
    page = _listed(reader, found, bounds, start or Position(), details=details)
    return page._replace(notices=page.notices + _about_missing(reader, names, found))


def around(
    reader: Reader, *, names: Sequence[str], hops: int, bounds: Bounds, start: Position | None
) -> Page:
    """What can be reached from these entities, the nearest first."""
    begin = start or Position()
    found = reader.find(names)
    near = reader.around(found, hops, begin.key + bounds.entities + 1)
    page = _listed(reader, near, bounds, begin)
    return page._replace(notices=page.notices + _about_missing(reader, names, found))


def _listed(
    reader: Reader, nodes: Sequence[Node], bounds: Bounds, begin: Position, *, details: bool = False
) -> Page:
    filler = _Filler(reader, bounds, begin, reader.edges_of, details=details)
    filler.fill(Keyed(key, node) for key, node in enumerate(nodes) if key >= begin.key)
    return filler.page()


def _from_id(reader: Reader, first: int) -> Iterator[Keyed]:
    after = first - 1
    while first < LOOSE:
        batch = reader.nodes(after, _BATCH)
        yield from (Keyed(node.id, node) for node in batch)
        if len(batch) < _BATCH:
            return
        after = batch[-1].id


def _about_missing(reader: Reader, names: Sequence[str], found: Sequence[Node]) -> list[str]:
    """Names that are not there, and what may help: a deletion that can be undone, or another spelling."""
    known = {node.name for node in found}
    missing = [name for name in dict.fromkeys(names) if name not in known]
    told = [_about(reader, name) for name in missing[:_MOST_MISSING]]
    rest = len(missing) - len(told)
    return [*told, f"{rest} more names were not found."] if rest else told


def _about(reader: Reader, name: str) -> str:
    gone, alike = reader.deleted(name), reader.similar(name)
    told = f"Not found: {shown(name)}"
    if gone is not None:
        told += f", deleted at {gone}; undo with change {gone.change} brings it back"
    if alike:
        told += f"; there is {', '.join(map(shown, alike[:3]))}"
    return told + "."


def cost(text: str) -> int:
    """How many characters a text has in JSON, quotes and comma included."""
    import json

    return len(json.dumps(text, ensure_ascii=False)) + 1


def piece_of(text: str, start: int, budget: int) -> str:
    """The longest part of a text from `start` that costs no more than the budget, or nearly so."""
    part = text[start : start + budget]
    while part and (price := cost(part)) > budget:
        part = part[: min(len(part) - 1, len(part) * budget // price)]
    return part


class _Filler:
    """Fills one page."""

    def __init__(
        self,
        reader: Reader,
        bounds: Bounds,
        begin: Position,
        edges: Callable[[str, int], Iterable[Edge]],
        *,
        details: bool = False,
    ) -> None:
        self._reader = reader
        self._bounds = bounds
        self._begin = begin
        self._edges = edges
        self._details = details
        self._left = bounds.chars
        self._entities: list[Detailed] = []
        self._relations: dict[int, Triple] = {}
        self.next: Position | None = None

    def page(self) -> Page:
        relations = [triple for _, triple in sorted(self._relations.items())]
        return Page(self._entities, relations, self.next, self._reader.notices())

    def fill(self, nodes: Iterable[Keyed]) -> None:
        for keyed in nodes:
            if len(self._entities) >= self._bounds.entities or (
                self._entities and self._left < _SMALLEST_PIECE
            ):
                self.next = Position(keyed.key)
                return
            begin = self._begin if keyed.key == self._begin.key else Position(keyed.key)
            self._add(keyed, begin)
            if self.next is not None:
                return

    def add_loose(self) -> None:
        """The relations that belong to no entity, at the very end."""
        begin = self._begin if self._begin.key == LOOSE else Position(LOOSE, relations=True)
        self._add_edges(self._reader.loose_edges(begin.after), begin)

    def _add(self, keyed: Keyed, begin: Position) -> None:
        node = keyed.node
        entity: Detailed = {"name": node.name, "entityType": node.type, "observations": []}
        self._entities.append(entity)
        self._left -= cost(node.name) + cost(node.type) + _OVERHEAD
        if self._details:
            entity["created"] = str(self._reader.created(node.id))
            self._left -= _OVERHEAD
            if begin == Position(keyed.key):
                self._add_removed(node, entity, self._left // 3)
        kept = [] if begin.relations else self._add_observations(keyed, entity, begin)
        if self._details:
            entity["learned"] = [self._learned(node, observation) for observation in kept]
        if self.next is None:
            after = begin.after if begin.relations else 0
            self._add_edges(
                self._edges(node.name, after), begin._replace(key=keyed.key, relations=True, after=after)
            )

    def _add_observations(self, keyed: Keyed, entity: Detailed, begin: Position) -> list[int]:
        kept: list[int] = []
        last, offset = begin.after, begin.offset
        for observed in self._reader.observations(keyed.node.id, begin.after):
            text, whole = observed.text, offset == 0
            price = cost(text) if len(text) < self._left else len(text) + 3
            if self._details:
                price += cost(self._learned(keyed.node, observed.id))
            if whole and price <= self._left:
                entity["observations"].append(text)
                self._left -= price
            else:
                if (kept or len(self._entities) > 1) and whole and price <= self._bounds.chars // 2:
                    self.next = Position(keyed.key, after=last)
                    return kept
                end = self._add_piece(entity, text, offset)
                if end < len(text):
                    kept.append(observed.id)
                    self.next = Position(keyed.key, after=last, offset=end)
                    return kept
            kept.append(observed.id)
            last, offset = observed.id, 0
        return kept

    def _add_piece(self, entity: Detailed, text: str, offset: int) -> int:
        """A part of an observation that is too long for one page, marked as such."""
        part = piece_of(text, offset, max(self._left - _OVERHEAD, _SMALLEST_PIECE))
        end = offset + len(part)
        entity["observations"].append(f"{part} [characters {offset + 1} to {end} of {len(text)}]")
        self._left -= cost(part) + _OVERHEAD
        return end

    def _add_removed(self, node: Node, entity: Detailed, budget: int) -> None:
        """What was taken out, the newest first; on the first page of an entity, and never all of the page."""
        for gone in self._reader.removed(node.id, _MOST_REMOVED):
            text = piece_of(gone.observation, 0, max(budget // 2, _SMALLEST_PIECE))
            line = f"{text} [learned {gone.learned}, removed {gone.removed}]"
            budget -= cost(line)
            if budget < 0:
                break
            entity.setdefault("removed", []).append(line)
            self._left -= cost(line)

    def _learned(self, node: Node, observation: int) -> str:
        return ", ".join(map(str, self._reader.learned(node.id, [observation])))

    def _add_edges(self, edges: Iterable[Edge], begin: Position) -> None:
        # A page that goes on among relations takes at least one, so that going on gets somewhere.
        free = begin == self._begin and begin.relations
        last = begin.after
        for edge in edges:
            if edge.id not in self._relations:
                price = sum(map(cost, edge.triple)) + _OVERHEAD
                if price > self._left and not free:
                    self.next = Position(begin.key, relations=True, after=last)
                    return
                self._relations[edge.id] = edge.triple
                self._left -= price
                free = False
            last = edge.id
