"""The file format of the known memory server: one JSON object in each line, entities first, then relations.

Written exactly as that server writes it, so that a file that went in comes out byte for byte. Older files that hold
one JSON document are read too. What cannot be understood is handed back, never dropped.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from .edits import LONGEST_NAME
from .shapes import Entity, Triple

_ENTITY = {"type", "name", "entityType", "observations"}
_RELATION = {"type", "from", "to", "relationType"}


class Contents(NamedTuple):
    """What a file holds, and the lines of it that were not understood, or not in full."""

    entities: list[Entity]
    relations: list[Triple]
    rejected: list[tuple[int, str]]


def read(data: bytes) -> Contents:
    """Understand as much of a file as there is to understand. Lines are counted from 1."""
    contents = Contents([], [], [])
    for number, raw, item in _items(data):
        complete = item is not None and _take(item, contents)
        if not complete:
            contents.rejected.append((number, raw))
    return contents


def lines(entities: Iterator[Entity], relations: Iterator[Triple]) -> Iterator[bytes]:
    """The graph as chunks of a file; the last line has no newline, as in the known server's own files."""
    newline = b""
    for entity in entities:
        yield newline + _line({"type": "entity", **entity})
        newline = b"\n"
    for relation in relations:
        yield newline + _line({"type": "relation", **relation.shown()})
        newline = b"\n"


def _line(item: dict[str, Any]) -> bytes:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode()


def _items(data: bytes) -> Iterator[tuple[int, str, Any]]:
    """Every line with what it says: None if that is nothing. A single document counts as line 1."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")
    document = _document(text)
    if document is not None:
        for item in document:
            yield 1, json.dumps(item, ensure_ascii=True), item
        return
    # Only \n ends a line: JSON text may hold other characters that Python takes for line ends.
    for number, raw in enumerate(text.split("\n"), 1):
        if raw.strip():
            yield number, raw, _parse(raw)


def _document(text: str) -> list[Any] | None:
    """The items of a file that is one JSON value and not a row of lines."""
    head = text.lstrip()[:1]
    first = _parse(text.strip().partition("\n")[0])
    if head not in ("{", "[") or (isinstance(first, dict) and "type" in first):
        return None
    match _parse(text):
        case {"entities": list(entities), "relations": list(relations)}:
            typed = [_typed("entity", item) for item in entities]
            return typed + [_typed("relation", item) for item in relations]
        case list(items):
            return items
        case _:
            return None


def _typed(kind: str, item: Any) -> Any:
    return {"type": kind, **item} if isinstance(item, dict) else item


def _parse(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _take(item: Any, contents: Contents) -> bool:
    """Take over one item; False when something of it has no place here."""
    match item:
        case {
            "type": "entity",
            "name": str(name),
            "entityType": str(kind),
            "observations": list(observations),
        } if _all_text([name, kind, *observations]) and _short(name, kind):
            contents.entities.append({"name": name, "entityType": kind, "observations": observations})
            return item.keys() <= _ENTITY
        case {"type": "relation", "from": str(source), "to": str(target), "relationType": str(kind)} if (
            _all_text([source, target, kind]) and _short(source, target, kind)
        ):
            contents.relations.append(Triple(source, target, kind))
            return item.keys() <= _RELATION
        case _:
            return False


def _all_text(values: list[Any]) -> bool:
    """Whether these are texts that can be stored: halves of characters cannot."""
    try:
        for value in values:
            if not isinstance(value, str):
                return False
            value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _short(*names: str) -> bool:
    return all(len(name) <= LONGEST_NAME for name in names)
