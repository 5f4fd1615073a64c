"""Bytes to JSON values and back. The only module that knows which JSON library is used."""

from typing import Any

import msgspec

from ..errors import ParseError

# Deeper than any real message; far below where the interpreter's own recursion limit would bite.
MAX_DEPTH = 128

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


class Malformed:
    """Stands where a message should be: what arrived cannot be read. Says why."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Malformed({self.reason!r})"


def decode(data: bytes | bytearray | memoryview) -> Any:
    """Read one JSON value; raise ParseError if it is none, or nested too deeply."""
    try:
        value = _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ParseError(f"Parse error: {error}") from None
    except RecursionError:
        raise ParseError("Parse error: nested too deeply") from None
    # Counting brackets is a memchr; the exact walk is only for messages that could be too deep.
    plain = bytes(data) if isinstance(data, memoryview) else data
    if plain.count(b"[") + plain.count(b"{") > MAX_DEPTH and _depth_exceeds(value, MAX_DEPTH):
        raise ParseError("Parse error: nested too deeply")
    return value


def encode(value: Any) -> bytes:
    """Write one JSON value without newlines."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        # Text from file names can hold lone surrogates, which no JSON text may carry.
        return _encode(_clean(value))


def encode_line(value: Any) -> bytes:
    """Write one JSON value and the newline that ends it, without copying what may be large."""
    try:
        return _encode_lines((value,))
    except UnicodeEncodeError:
        return _encode_lines((_clean(value),))


def canonical(value: Any) -> bytes:
    """Write a value so that equal values give equal bytes."""
    return _encode_sorted(_clean(value))


def _depth_exceeds(value: Any, limit: int) -> bool:
    level: list[Any] = [value]
    for _ in range(limit):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(child for child in item.values() if isinstance(child, dict | list))
            elif isinstance(item, list):
                inner.extend(child for child in item if isinstance(child, dict | list))
        if not inner:
            return False
        level = inner
    return True


def _clean(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list() | tuple():
            return [_clean(item) for item in value]
        case _:
            return value
