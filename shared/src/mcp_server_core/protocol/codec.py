"""Bytes to JSON values and back. The only module that knows which JSON library is used."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..errors import ParseError

# Deeper than any real message; far below where the interpreter's own recursion limit would bite.
MAX_DEPTH = 128

_MARK = (
    b'"\\u0000spliced\\u0000"'  # the text stands for itself nowhere: if it does, everything is joined instead
)
_PIECE = 65536


# An escape sequence in a string; the group is half of a character of two, without the other half.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class Spliced:
    """A JSON value that is written already, in parts: stands in a message and goes out as it is, never joined.

    `quoted` makes it a string that holds that JSON.
    """

    __slots__ = ("_parts", "_quoted")

    def __init__(self, parts: Sequence[bytes], *, quoted: bool = False) -> None:
        self._parts = parts
        self._quoted = quoted

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def pieces(self) -> Iterator[bytes]:
        """The value, piece by piece."""
        if not self._quoted:
            yield from self._parts
            return
        yield b'"'
        for part in self._parts:
            # What is JSON on one line holds no control characters.
            yield part.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        yield b'"'


class _Large(Exception):
    """A message holds a spliced value that is too large to be joined."""


def _join(value: Any) -> msgspec.Raw:
    if not isinstance(value, Spliced):
        raise TypeError(f"{type(value).__name__} is nothing that JSON can carry")
    return msgspec.Raw(b"".join(value.pieces()))


def _join_small(value: Any) -> msgspec.Raw:
    if isinstance(value, Spliced) and len(value) >= _PIECE:
        raise _Large
    return _join(value)


_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(enc_hook=_join).encode
_encode_small = msgspec.json.Encoder(enc_hook=_join_small).encode
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
        try:
            value = _decode(data)
        except msgspec.DecodeError:
            # Who cuts text in JavaScript may cut an emoji in two, and the half is escaped. The request is answered all
            # the same: without its id nobody could tell its sender what was wrong.
            value = _decode(_ESCAPE.sub(_whole, data))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ParseError(f"Parse error: {error}") from None
    except RecursionError:
        raise ParseError("Parse error: nested too deeply") from None
    # Counting brackets is a memchr; the exact walk is only for messages that could be too deep.
    plain = bytes(data) if isinstance(data, memoryview) else data
    if plain.count(b"[") + plain.count(b"{") > MAX_DEPTH and _depth_exceeds(value, MAX_DEPTH):
        raise ParseError("Parse error: nested too deeply")
    return value


def _whole(escape: re.Match[bytes]) -> bytes:
    """The escape itself, or U+FFFD for half a character."""
    return escape[0] if escape[1] is None else b"\\ufffd"


def encode(value: Any) -> bytes:
    """Write one JSON value without newlines."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        # Text from file names can hold lone surrogates, which no JSON text may carry.
        return _encode(_clean(value))


def encode_line(value: Any) -> bytes | Iterator[bytes]:
    """Write one JSON value and the newline that ends it; in pieces if a large part of it is written already."""
    try:
        # Not encode_lines: in msgspec 0.22 that never lets go of a message that it could not write.
        return _encode_small(value) + b"\n"
    except UnicodeEncodeError:
        return encode(value) + b"\n"
    except _Large:
        pass
    found: list[Spliced] = []

    def mark(part: Any) -> msgspec.Raw:
        if not isinstance(part, Spliced):
            return _join(part)
        found.append(part)
        return msgspec.Raw(_MARK)

    try:
        frame = msgspec.json.encode(value, enc_hook=mark).split(_MARK)
    except UnicodeEncodeError:
        return encode(value) + b"\n"
    return _interleave(frame, found) if len(frame) == len(found) + 1 else encode(value) + b"\n"


def _interleave(frame: list[bytes], found: list[Spliced]) -> Iterator[bytes]:
    for outside, part in zip(frame, found, strict=False):
        yield outside
        yield from part.pieces()
    yield frame[-1] + b"\n"


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
