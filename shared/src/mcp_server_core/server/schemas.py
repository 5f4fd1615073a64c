"""JSON schemas made short, and told in words. Definitions cost a model's attention: each byte is weighed."""

import json
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
_EXAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 10,
    "number": 0.5,
    "boolean": True,
    "array": [],
    "object": {},
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
    words = _WORDS.get(str(schema.get("type")), "a value")
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


def example_of(schema: Json) -> str:
    """A value that fits the schema, as JSON."""
    return json.dumps(_example(schema), ensure_ascii=False)


def _example(schema: Json) -> Any:
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return _example(schema["anyOf"][0])
    kind = str(schema.get("type"))
    if kind == "array" and isinstance(schema.get("items"), dict):
        return [_example(schema["items"])]
    if kind == "object" and "properties" in schema:
        required = schema.get("required", [])
        return {name: _example(item) for name, item in schema["properties"].items() if name in required}
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), min(10, schema.get("maximum", 10)))
    return _EXAMPLES.get(kind, "value")
