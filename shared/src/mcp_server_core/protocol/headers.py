"""What a stateless request repeats in HTTP headers: how a value is written there, and which arguments are mirrored.

The annotations are those a tool's input schema carries (4.3.4). Nothing here compares a header with a body.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple

from .messages import Json

NAMED: dict[str, str] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods that need `Mcp-Name`, and the member of params that it repeats (N-22)."""

ANNOTATION = "x-mcp-header"
_PREFIX, _SUFFIX = "=?base64?", "?="  # N-40: exact, lower case
_PLAIN = re.compile(r"[\x20-\x7e]*")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110
_TYPES = ("string", "integer", "boolean")

# Keywords whose value is data, and keywords whose value maps names to schemas; the others hold schemas or scalars.
_DATA = frozenset({"const", "default", "enum", "examples", ANNOTATION})
_NAMES = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties"})


def encode_value(text: str) -> str:
    """A text as a header carries it: as it is if a header can, else in Base64 between marks (N-39)."""
    looks_encoded = text.startswith(_PREFIX) and text.endswith(_SUFFIX)
    if _PLAIN.fullmatch(text) and text == text.strip(" ") and not looks_encoded:
        return text
    # "replace" is what the codec does to the body, and the two must agree.
    return _PREFIX + b64encode(text.encode("utf-8", "replace")).decode("ascii") + _SUFFIX


def decode_value(value: str) -> str:
    """The text in a header value; ValueError if it has characters a header may not have, or bad Base64 (N-36)."""
    if not _PLAIN.fullmatch(value):
        raise ValueError("the value has characters that a header may not have")
    if len(value) < len(_PREFIX + _SUFFIX) or not (value.startswith(_PREFIX) and value.endswith(_SUFFIX)):
        return value
    return b64decode(value[len(_PREFIX) : -len(_SUFFIX)], validate=True).decode("utf-8")


class HeaderParam(NamedTuple):
    """An argument of a tool that its calls repeat in a header."""

    header: str
    path: tuple[str, ...]
    type: str


def header_params(schema: Json) -> tuple[HeaderParam, ...]:
    """The annotated arguments of an input schema; ValueError says which rule an annotation breaks (N-31 to N-33)."""
    found: dict[str, HeaderParam] = {}
    for param in _annotated(schema, ()):
        if found.setdefault(param.header.lower(), param) is not param:
            raise ValueError(f"{param.header} stands for two arguments")
    return tuple(found.values())


def _annotated(schema: Any, path: tuple[str, ...] | None) -> Iterator[HeaderParam]:
    """Every annotation below a value. `path` is None where no argument can be named by `properties` alone."""
    if isinstance(schema, list):
        for item in schema:
            yield from _annotated(item, None)
    if not isinstance(schema, dict):
        return
    if ANNOTATION in schema:
        yield _read(schema, path)
    for keyword, value in schema.items():
        if keyword in _DATA:
            continue
        if isinstance(value, dict) and keyword == "properties":
            for name, inner in value.items():
                yield from _annotated(inner, None if path is None else (*path, name))
        elif isinstance(value, dict) and keyword in _NAMES:
            for inner in value.values():
                yield from _annotated(inner, None)
        else:
            yield from _annotated(value, None)


def _read(schema: Json, path: tuple[str, ...] | None) -> HeaderParam:
    name, type_ = schema[ANNOTATION], schema.get("type")
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise ValueError(f"{ANNOTATION} {name!r} is no header name")
    if not path:
        raise ValueError(
            f"{ANNOTATION} {name!r} does not belong to an argument reached by `properties` alone"
        )
    if type_ not in _TYPES:
        raise ValueError(
            f"{ANNOTATION} {name!r} is on type {type_!r}; only {', '.join(_TYPES)} can be mirrored"
        )
    return HeaderParam(f"Mcp-Param-{name}", path, type_)


def value_at(arguments: Json, path: tuple[str, ...]) -> Any:
    """The argument at a path; None when it, or anything on the way to it, is absent."""
    value: Any = arguments
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def text_of(value: Any) -> str | None:
    """An argument as text (N-38); None for what has no header: null, absent, or no scalar."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return None
