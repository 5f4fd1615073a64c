"""Opaque cursors that carry their own state, so that any instance can serve the next page (PG-5)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from ..errors import InvalidCursor, ParseError
from .codec import decode, encode


def write_cursor(kind: str, position: Any) -> str:
    """A cursor for a list of this kind that goes on at `position`, any JSON value."""
    return urlsafe_b64encode(encode([kind, position])).rstrip(b"=").decode()


def read_cursor(kind: str, cursor: str) -> Any:
    """The position in a cursor; InvalidCursor unless it was written for this kind of list (PG-4)."""
    try:
        raw = cursor.encode("ascii")
        value = decode(urlsafe_b64decode(raw + b"=" * (-len(raw) % 4)))
    except (ValueError, ParseError):
        raise InvalidCursor from None
    # What differs from what we would write, we did not write.
    if (
        type(value) is not list
        or len(value) != 2
        or value[0] != kind
        or write_cursor(kind, value[1]) != cursor
    ):
        raise InvalidCursor
    return value[1]
