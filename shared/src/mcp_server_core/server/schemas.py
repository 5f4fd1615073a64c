"""JSON schemas made short, and told in words. Definitions cost a model's attention: each byte is weighed."""

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

from ..protocol.messages import Json

_WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_MAPS = ("properties", "$defs", "patternProperties")


def terse(schema: Json, *, optional: frozenset[str] = frozenset()) -> Json:
    """The schema without generated titles, with references put in place unless they are recursive.

    A member named in `optional` may be left out, so its schema need not say that it may also be null.
    """
    definitions: Json = schema.get("$defs", {})
    short = _terse({key: value for key, value in schema.items() if key != "$defs"}, definitions, ())
    for name in optional:
        short["properties"][name] = _without_null(short["properties"][name])
    kept: Json = {}
    while missing := [
        name for name in definitions if name not in kept and _mentions([short, kept], f"#/$defs/{name}")
    ]:
        for name in missing:
            kept[name] = _terse(definitions[name], definitions, (name,))
    return {**short, "$defs": kept} if kept else short


def _terse(schema: Any, definitions: Json, inside: tuple[str, ...]) -> Any:
    if isinstance(schema, list):
        return [_terse(item, definitions, inside) for item in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        name = reference.removeprefix("#/$defs/")
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        if name in inside or _mentions(definitions[name], reference):
            return schema
        return _terse({**definitions[name], **rest}, definitions, (*inside, name))
    short: Json = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in _MAPS:
            short[key] = {name: _terse(item, definitions, inside) for name, item in value.items()}
        elif key in ("default", "const", "enum", "examples"):
            short[key] = value
        else:
            short[key] = _terse(value, definitions, inside)
    return short


def _without_null(schema: Json) -> Json:
    choices = schema.get("anyOf")
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if choices is None:
        return schema
    kept = [choice for choice in choices if choice != {"type": "null"}]
    return {**kept[0], **rest} if len(kept) == 1 else {"anyOf": kept, **rest}


def _mentions(schema: Any, reference: str) -> bool:
    if isinstance(schema, dict):
        return schema.get("$ref") == reference or any(_mentions(item, reference) for item in schema.values())
    return isinstance(schema, list) and any(_mentions(item, reference) for item in schema)


def describe(schema: Json) -> str:
    """What a value of this schema is, in words a model can act on."""
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(item, ensure_ascii=False) for item in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(describe(item) for item in schema["anyOf"]))
    words = _WORDS.get(str(schema.get("type")), "an object" if "$ref" in schema else "a value")
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        words += f" whose items are each {describe(schema['items'])}"
    if schema.get("type") == "object" and "properties" in schema:
        words += " with " + ", ".join(f"`{name}`" for name in schema["properties"])
    limits = [
        f"{phrase} {schema[key]}"
        for key, phrase in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("minLength", "of at least"),
            ("maxLength", "of at most"),
            ("minItems", "of at least"),
            ("maxItems", "of at most"),
        )
        if key in schema
    ]
    return " ".join([words, " and ".join(limits)]) if limits else words


def example_of(schema: Json, definitions: Json) -> str:
    """A value that fits the schema, as JSON."""
    return json.dumps(_example(schema, definitions), ensure_ascii=False)


def _example(schema: Json, definitions: Json) -> Any:
    if "$ref" in schema:
        return _example(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], definitions)
    match schema.get("type"):
        case "array":
            item = schema["items"] if isinstance(schema.get("items"), dict) else {"type": "string"}
            if "$ref" in item and not schema.get("minItems"):
                return []  # a recursive type has to end somewhere
            return [_example(item, definitions)] * max(1, schema.get("minItems", 1))
        case "object":
            properties: Json = schema.get("properties", {})
            return {name: _example(properties[name], definitions) for name in schema.get("required", ())}
        case "integer" | "number" as kind:
            return _example_number(schema, whole=kind == "integer")
        case "boolean":
            return True
        case _:
            text = "text"
            while len(text) < schema.get("minLength", 0):
                text += " text"
            return text[: schema.get("maxLength", len(text))]


def _example_number(schema: Json, *, whole: bool) -> float:
    low = schema.get(
        "minimum", schema.get("exclusiveMinimum", 0) + 1 if "exclusiveMinimum" in schema else None
    )
    high = schema.get("maximum")
    number = 10 if whole else 0.5
    if low is not None:
        number = max(number, low)
    return number if high is None else min(number, high)


def place_in(schema: Json, path: Sequence[str | int], definitions: Json) -> tuple[list[str], Json]:
    """How far a path leads into a schema: the steps that were found, and the schema at the last of them."""
    steps: list[str] = []
    for step in path:
        inner = _inside(schema, step, definitions)
        if inner is None:
            break
        steps.append(str(step))
        schema = inner
    return steps, schema


def _inside(schema: Json, step: str | int, definitions: Json) -> Json | None:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if isinstance(step, int):
        found = schema.get("items")
    else:
        found = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None


def misplaced_boolean(schema: Json, value: Any, definitions: Json) -> bool:
    """Whether true or false stands where a number belongs: Python would take it as 1 or 0."""
    if isinstance(value, bool):
        return schema.get("type") in ("integer", "number")
    if isinstance(value, list):
        inner = _inside(schema, 0, definitions)
        return inner is not None and any(misplaced_boolean(inner, item, definitions) for item in value)
    if isinstance(value, dict):
        return any(
            misplaced_boolean(inner, item, definitions)
            for name, item in value.items()
            if (inner := _inside(schema, name, definitions)) is not None
        )
    return False


def holds_only_finite(value: Any) -> bool:
    """Whether data has no number that JSON cannot carry."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, list):
        return all(holds_only_finite(item) for item in value)
    return not isinstance(value, dict) or all(holds_only_finite(item) for item in value.values())


def mentions_number(schema: Json) -> bool:
    """Whether a value of this schema may hold a number with a fraction."""
    if schema.get("type", "number") == "number" and schema.keys().isdisjoint(_TYPED_OTHERWISE):
        return True
    parts = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        parts += schema.get(key, [])
    parts += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    return any(part is True or (isinstance(part, dict) and mentions_number(part)) for part in parts)


_TYPED_OTHERWISE = {"$ref", "anyOf", "oneOf", "allOf", "enum", "const"}
