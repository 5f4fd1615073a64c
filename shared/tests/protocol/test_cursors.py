"""Cursors: opaque to the client, enough for any instance, and refused when they are not ours."""

from base64 import urlsafe_b64encode
from typing import Any

import pytest
from mcp_server_core.errors import InvalidCursor
from mcp_server_core.protocol.cursors import read_cursor, write_cursor

POSITIONS = [0, 50, 10**30, -1, "note:///é", "", None, [3, "a"], {"after": "x"}, True]


@pytest.mark.parametrize("position", POSITIONS, ids=repr)
def test_a_cursor_brings_its_position_back(position: Any) -> None:
    # PG-5
    assert read_cursor("tools/list", write_cursor("tools/list", position)) == position


def test_a_cursor_is_the_same_each_time() -> None:
    # PG-4: stable
    assert write_cursor("tools/list", 50) == write_cursor("tools/list", 50)


@pytest.mark.parametrize("position", POSITIONS, ids=repr)
def test_a_cursor_is_text_that_needs_no_escaping(position: Any) -> None:
    cursor = write_cursor("prompts/list", position)
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert cursor.isascii()


@pytest.mark.parametrize("kind", ["prompts/list", "tools", "", "tools/list "])
def test_a_cursor_of_one_list_is_refused_by_another(kind: str) -> None:
    # PG-4
    with pytest.raises(InvalidCursor):
        read_cursor(kind, write_cursor("tools/list", 50))


def encoded(text: bytes) -> str:
    return urlsafe_b64encode(text).rstrip(b"=").decode()


GOOD = write_cursor("tools/list", 50)
FOREIGN = {
    "empty": "",
    "words": "hello world",
    "a number": "50",
    "padding alone": "====",
    "not ASCII": "日本",
    "a lone surrogate": "\ud800",
    "NUL": "\x00",
    "one character": "A",
    "half of a good one": GOOD[: len(GOOD) // 2],
    "a good one and more": GOOD + GOOD,
    "not JSON": encoded(b"hello"),
    "broken UTF-8": encoded(b'["tools/list","\xff"]'),
    "an object": encoded(b'{"0":"tools/list","1":50}'),
    "too short": encoded(b'["tools/list"]'),
    "too long": encoded(b'["tools/list",50,1]'),
    "no kind": encoded(b"[null,50]"),
    "a kind that is a list": encoded(b'[["tools/list"],50]'),
    "a nesting bomb": encoded(b"[" * 100_000),
    "five thousand digits": encoded(b'["tools/list",' + b"1" * 5000 + b"]"),
    "huge": "A" * 1_000_000,
}


@pytest.mark.parametrize("cursor", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_cursor_that_was_never_given_out_is_refused(cursor: str) -> None:
    # PG-4
    with pytest.raises(InvalidCursor) as caught:
        read_cursor("tools/list", cursor)
    assert (caught.value.code, caught.value.message) == (-32602, "Invalid cursor. Start again without one.")


@pytest.mark.parametrize(
    "cursor",
    [
        GOOD + "=",
        GOOD + "====",
        GOOD + "\n",
        " " + GOOD,
        "!" + GOOD,
        GOOD[:5] + "\r\n*" + GOOD[5:],
        encoded(b' [ "tools/list" , 50 ] '),
    ],
)
def test_a_cursor_that_was_dressed_up_is_refused(cursor: str) -> None:
    # PG-2, PG-4: opaque, so only the very text that was given out is a cursor
    with pytest.raises(InvalidCursor):
        read_cursor("tools/list", cursor)
