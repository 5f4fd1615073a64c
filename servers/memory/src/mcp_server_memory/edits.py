"""The rules of change: what counts as new, what goes along when something is deleted, and what is refused."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .shapes import Addition, Entity, Grown, Removal, Retraction, Triple
from .store import Draft, GraphError

# Names and types are keys of indexes and stand in every relation; an observation may be as long as it likes.
LONGEST_NAME = 2_000
_SHOWN = 5


class Created(NamedTuple):
    """New entities, and the names that were there already."""

    entities: list[Entity]
    ignored: list[str]


class Related(NamedTuple):
    """New relations, and those that were there already."""

    relations: list[Triple]
    ignored: list[Triple]


class Added(NamedTuple):
    """What each entity gained, and the observations that were there already, each with its entity."""

    results: list[Grown]
    ignored: list[tuple[str, str]]


class Merged(NamedTuple):
    """What a file added."""

    entities: int
    observations: int
    relations: int
    retyped: list[str]


def create_entities(entities: Sequence[Entity], draft: Draft) -> Created:
    """Add the entities whose names are new; an entity that is there keeps what it has."""
    made: list[Entity] = []
    ignored: list[str] = []
    for entity in entities:
        name, kind = _name(entity["name"], "name"), _name(entity["entityType"], "type")
        if draft.find(name) is not None:
            ignored.append(name)
            continue
        observations = list(dict.fromkeys(map(_text, entity["observations"])))
        known = draft.add_entity(name, kind)
        for text in observations:
            draft.add_observation(known, text)
        made.append({"name": name, "entityType": kind, "observations": observations})
    return Created(made, ignored)


def create_relations(relations: Sequence[Triple], draft: Draft) -> Related:
    """Add the relations that are new; one end that is unknown refuses them all."""
    ends = dict.fromkeys(end for relation in relations for end in (relation.source, relation.target))
    _require(ends, draft)
    made: list[Triple] = []
    ignored: list[Triple] = []
    for relation in relations:
        _name(relation.type, "type")
        if draft.has_relation(relation):
            ignored.append(relation)
        else:
            draft.add_relation(relation)
            made.append(relation)
    return Related(made, ignored)


def add_observations(additions: Sequence[Addition], draft: Draft) -> Added:
    """Add what is new; one entity that is unknown refuses them all."""
    known = _require(dict.fromkeys(one["entityName"] for one in additions), draft)
    results: list[Grown] = []
    ignored: list[tuple[str, str]] = []
    for one in additions:
        entity = known[one["entityName"]]
        new: list[str] = []
        for text in map(_text, one["contents"]):
            if draft.has_observation(entity, text):
                ignored.append((one["entityName"], text))
            else:
                draft.add_observation(entity, text)
                new.append(text)
        results.append({"entityName": one["entityName"], "addedObservations": new})
    return Added(results, ignored)


def delete_entities(names: Sequence[str], draft: Draft) -> Removal:
    """Take entities out, and with them what is known about them and every relation they have."""
    count = observations = relations = 0
    missing: list[str] = []
    for name in dict.fromkeys(names):
        entity = draft.find(name)
        if entity is None:
            missing.append(name)
            continue
        gone = draft.drop_entity(entity)
        count, observations, relations = count + 1, observations + gone[0], relations + gone[1]
    return Removal(count, observations, relations, missing)


def delete_observations(deletions: Sequence[Retraction], draft: Draft) -> Removal:
    """Take observations out; what is not there is reported, and no error."""
    count = 0
    missing: list[str] = []
    for one in deletions:
        entity = draft.find(one["entityName"])
        if entity is None:
            missing.append(one["entityName"])
            continue
        for text in dict.fromkeys(one["observations"]):
            gone = draft.drop_observation(entity, text)
            count += gone
            if not gone:
                missing.append(f"{one['entityName']}: {text}")
    return Removal(0, count, 0, missing)


def delete_relations(relations: Sequence[Triple], draft: Draft) -> Removal:
    """Take relations out; what is not there is reported, and no error."""
    missing: list[str] = []
    count = 0
    for relation in dict.fromkeys(relations):
        gone = draft.drop_relation(relation)
        count += gone
        if not gone:
            missing.append(f"{relation.source} {relation.type} {relation.target}")
    return Removal(0, 0, count, missing)


def merge(
    entities: Iterable[Entity], relations: Iterable[Triple], draft: Draft, *, stop: Callable[[], bool]
) -> Merged:
    """Add what is new, down to single observations. A new entity is taken as it is, repetitions included."""
    counts = [0, 0, 0]
    retyped: list[str] = []
    for entity in entities:
        if stop():
            raise GraphError("The import was cancelled; nothing was changed.")
        _merge_entity(entity, draft, counts, retyped)
    for relation in relations:
        if not draft.has_relation(relation):
            draft.add_relation(relation)
            counts[2] += 1
    return Merged(counts[0], counts[1], counts[2], retyped)


def _merge_entity(entity: Entity, draft: Draft, counts: list[int], retyped: list[str]) -> None:
    known = draft.find(entity["name"])
    fresh = known is None
    if known is None:
        known = draft.add_entity(entity["name"], entity["entityType"])
        counts[0] += 1
    elif not draft.has_type(known, entity["entityType"]):
        retyped.append(entity["name"])
    for text in entity["observations"]:
        if fresh or not draft.has_observation(known, text):
            draft.add_observation(known, text)
            counts[1] += 1


def _require(names: Iterable[str], draft: Draft) -> dict[str, int]:
    """The entities of these names; a GraphError that names all that are unknown."""
    found = {name: draft.find(name) for name in names}
    missing = [name for name, entity in found.items() if entity is None]
    if missing:
        listed = "; ".join(_unknown(name, draft) for name in missing[:_SHOWN])
        more = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise GraphError(
            f"Unknown entity: {listed}{more}. Nothing was changed. Create it first with create_entities."
        )
    return {name: entity for name, entity in found.items() if entity is not None}


def _unknown(name: str, draft: Draft) -> str:
    alike = draft.similar(name)
    return f"{shown(name)} (there is {', '.join(map(shown, alike[:3]))})" if alike else shown(name)


def shown(text: str) -> str:
    """Text as a sentence may carry it: quoted, bounded, without raw control characters."""
    short = text if len(text) <= 80 else f"{text[:60]}...{text[-15:]}"
    return "'" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in short) + "'"


def _name(text: str, what: str) -> str:
    if not text and what == "name":
        raise GraphError("A name is empty. Give it at least one character.")
    if len(text) > LONGEST_NAME:
        raise GraphError(
            f"The {what} {shown(text)} has {len(text)} characters, more than {LONGEST_NAME}. "
            "Shorten it, and put the rest into an observation."
        )
    return _text(text)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise GraphError(
            f"{shown(text)} holds half of a character (a lone surrogate). Leave it out."
        ) from None
    return text
