"""Values of a database as JSON, without loss. What JSON cannot carry becomes an object with one `$` key:

{"$int": "9007199254740993"}     an integer beyond 2^53, where many readers of JSON round
{"$blob": "AAEC"}                bytes, as base64
{"$real": "Infinity"}            an infinite number
{"$raw": "/w=="}                 text that is not UTF-8: its bytes, as base64
{"$text": "...", "chars": 5000}  the beginning of a long text, and how long it is; substr() gets the rest
{"$blob": "...", "bytes": 5000}  the beginning of long bytes
"""

from base64 import b64encode
from collections.abc import Iterable
from itertools import chain
from math import isfinite
from typing import Any

EXACT = 2**53 - 1


def decode(raw: bytes) -> str:
    """Text as it is in a database, also if it is not UTF-8: to be shaped."""
    return raw.decode(errors="surrogateescape")


def is_plain(rows: Iterable[Iterable[Any]], written: bytes, limit: int) -> bool:
    """Whether a strict writer, which refuses bytes and large integers, has written all of it without loss.

    What it does not refuse: infinite numbers, for which it writes null, and long texts. Most of the time neither can
    be there, and the values need not be looked at: that would cost as much as reading them from the database.
    """
    if b"null" not in written and len(written) <= limit:
        return True  # no value is longer than all of them together
    values = list(chain.from_iterable(rows))
    if written.count(b"null") != values.count(None):
        return False
    return all(len(value) <= limit for value in values if type(value) is str)


def is_cut(rows: Iterable[Iterable[Any]], limit: int) -> bool:
    """Whether one of the values is longer than the limit."""
    return any(len(value) > limit for value in chain.from_iterable(rows) if isinstance(value, str | bytes))


def shape(value: Any, limit: int) -> Any:
    """One value as JSON carries it; what is longer than the limit is cut."""
    match value:
        case bool() | None:
            return value
        case int():
            return value if -EXACT <= value <= EXACT else {"$int": str(value)}
        case float():
            return value if isfinite(value) else {"$real": "Infinity" if value > 0 else "-Infinity"}
        case bytes():
            return _shape_bytes(value, limit)
        case _:
            return _shape_text(str(value), limit)


def _shape_text(text: str, limit: int) -> Any:
    try:
        text.encode()
    except UnicodeEncodeError:
        raw = text.encode(errors="surrogateescape")
        return {"$raw": b64encode(raw[:limit]).decode(), **({"bytes": len(raw)} if len(raw) > limit else {})}
    return text if len(text) <= limit else {"$text": text[:limit], "chars": len(text)}


def _shape_bytes(data: bytes, limit: int) -> Any:
    room = max(limit // 4 * 3, 3)
    shaped = {"$blob": b64encode(data[:room]).decode()}
    return shaped if len(data) <= room else {**shaped, "bytes": len(data)}
