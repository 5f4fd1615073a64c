"""The rules of the HTTP endpoint without a socket: whatever arrives is something, or it is refused (2.5)."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.errors import HeaderMismatch, InternalError, InvalidParams, McpError, MethodNotFound
from mcp_server_core.protocol.http import (
    Accepts,
    Enveloped,
    Head,
    Ignored,
    Opening,
    Refusal,
    Within,
    is_json,
    read_accept,
    read_post,
    request_ids,
    status_of,
)
from mcp_server_core.protocol.revisions import META_VERSION

NEWEST = b"2026-07-28"
FIELDS = st.lists(
    st.tuples(
        st.sampled_from([b"mcp-protocol-version", b"mcp-session-id", b"accept", b"content-type", b"x"]),
        st.binary(max_size=30) | st.sampled_from([NEWEST, b"2025-03-26", b"abc"]),
    ),
    max_size=6,
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers() | st.text(max_size=3) | VALUES,
        "method": st.sampled_from(["initialize", "ping", "notifications/cancelled"]) | VALUES,
        "params": st.fixed_dictionaries({}, optional={"_meta": VALUES | st.just({META_VERSION: 5})}) | VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)


def judge(value: Any, *fields: tuple[bytes, bytes]) -> Any:
    """What a posted value is."""
    return read_post(json.dumps(value).encode(), Head(fields))


@given(st.binary(max_size=60), FIELDS)
def test_any_bytes_are_a_post_or_refused(body: bytes, fields: list[tuple[bytes, bytes]]) -> None:
    with suppress(Refusal):
        read_post(body, Head(fields))


@given(MESSAGES | st.lists(MESSAGES, max_size=3) | VALUES, FIELDS)
def test_any_json_is_a_post_or_refused(value: Any, fields: list[tuple[bytes, bytes]]) -> None:
    with suppress(Refusal):
        judge(value, *fields)


@given(FIELDS)
def test_any_head_can_be_read(fields: list[tuple[bytes, bytes]]) -> None:
    head = Head(fields)
    assert isinstance(read_accept(head), Accepts)
    assert isinstance(is_json(head), bool)


@given(MESSAGES | st.lists(MESSAGES, max_size=3) | VALUES)
def test_the_ids_of_anything_are_strings_and_integers(value: Any) -> None:
    assert all(type(id) in (str, int) for id in request_ids(value))


REQUEST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CLAIM = {"_meta": {META_VERSION: "2026-07-28"}}


@pytest.mark.parametrize(
    ("value", "fields", "kind"),
    [
        ({**REQUEST, "params": CLAIM}, [], Enveloped),
        ({**REQUEST, "params": CLAIM}, [(b"mcp-session-id", b"s")], Enveloped),
        ({**REQUEST, "method": "initialize", "params": CLAIM}, [], Enveloped),
        ({**REQUEST, "method": "initialize"}, [(b"mcp-protocol-version", NEWEST)], Opening),
        (REQUEST, [(b"mcp-session-id", b"s")], Within),
        ([REQUEST], [(b"mcp-session-id", b"s")], Within),
        ({"jsonrpc": "2.0", "method": "x"}, [], Ignored),
        ({"jsonrpc": "2.0", "method": "x"}, [(b"mcp-session-id", b"s")], Within),
        (
            {"jsonrpc": "2.0", "method": "x"},
            [(b"mcp-session-id", b"s"), (b"mcp-protocol-version", NEWEST)],
            Ignored,
        ),
        ({"jsonrpc": "2.0", "method": "x", "params": []}, [], Ignored),
    ],
)
def test_a_post_is_known_by_its_claim_its_method_and_its_session(value: Any, fields: Any, kind: type) -> None:
    assert type(judge(value, *fields)) is kind


@pytest.mark.parametrize(
    ("value", "accepts"),
    [
        (None, (True, True)),
        (b"*/*", (True, True)),
        (b"application/json", (True, False)),
        (b"TEXT/EVENT-STREAM", (False, True)),
        (b"text/*", (False, True)),
        (b"application/json;q=0, text/event-stream;q=0.5", (False, True)),
        (b"application/json; q=0.000; x=y, text/event-stream", (False, True)),
        (b"application/json;q=0.05", (True, False)),
        (b"text/html", (False, False)),
        (b"", (False, False)),
    ],
)
def test_what_a_client_accepts(value: bytes | None, accepts: tuple[bool, bool]) -> None:  # D-2
    assert read_accept(Head([] if value is None else [(b"accept", value)])) == accepts


def test_lines_of_accept_are_parts_of_one_list() -> None:
    head = Head([(b"accept", b"application/json"), (b"accept", b"text/event-stream")])
    assert read_accept(head) == (True, True)


@pytest.mark.parametrize(
    ("error", "opened", "status"),
    [
        (None, True, 200),
        (InvalidParams("x"), False, 400),
        (InvalidParams("x"), True, 200),
        (InternalError("x"), True, 200),
        (HeaderMismatch("x"), True, 400),
        (MethodNotFound("x"), False, 404),
        (McpError("x", code=-7), True, 200),
    ],
)
def test_the_status_of_an_answer(error: McpError | None, opened: bool, status: int) -> None:  # 3.2, D-3
    assert status_of(error, opened=opened) == status
