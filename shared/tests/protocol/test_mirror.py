"""Mirrored headers against a body: equal, or refused with one kind of error (4.3.2, 4.3.4)."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.errors import HeaderMismatch
from mcp_server_core.protocol.headers import HeaderParam, encode_value, text_of
from mcp_server_core.protocol.messages import Request
from mcp_server_core.protocol.mirror import Mirror

PARAM = HeaderParam("Mcp-Param-X", ("a", "b"), "string")
SCALARS = st.text() | st.integers(-(2**53) + 1, 2**53 - 1) | st.booleans()


def mirror(**fields: bytes) -> Mirror:
    """A mirror of these fields."""
    return Mirror({name.replace("_", "-").encode(): value for name, value in fields.items()}, set())


@given(st.binary(), st.text(), SCALARS | st.none() | st.floats() | st.lists(st.integers()))
def test_any_header_is_equal_or_a_mismatch(value: bytes, name: str, argument: Any) -> None:
    mirrored = mirror(mcp_protocol_version=value, mcp_method=value, mcp_name=value, mcp_param_x=value)
    with suppress(HeaderMismatch):
        mirrored.check_version(name)
    with suppress(HeaderMismatch):
        mirrored.check_request(Request(1, "tools/call", {"name": name}))
    with suppress(HeaderMismatch):
        mirrored.check_arguments([PARAM], {"a": {"b": argument}})


@given(SCALARS)
def test_what_a_client_writes_is_equal(argument: Any) -> None:  # N-38, N-39
    text = text_of(argument)
    assert text is not None
    if isinstance(argument, str):
        argument = text = text.encode("utf-8", "replace").decode()
    mirror(mcp_param_x=encode_value(text).encode()).check_arguments([PARAM], {"a": {"b": argument}})


@given(SCALARS, SCALARS)
def test_another_value_is_a_mismatch(argument: Any, other: Any) -> None:  # N-36
    text, wrong = text_of(argument), text_of(other)
    assert text is not None
    assert wrong is not None
    wrong = wrong.encode("utf-8", "replace").decode()
    if wrong in (text, text + ".0") or type(argument) is not type(other):
        return
    with pytest.raises(HeaderMismatch):
        mirror(mcp_param_x=encode_value(wrong).encode()).check_arguments([PARAM], {"a": {"b": argument}})


@pytest.mark.parametrize("arguments", [{}, {"a": None}, {"a": 5}, {"a": {"b": None}}, {"a": {"b": {}}}])
def test_an_argument_that_is_not_there_needs_no_header(arguments: Any) -> None:  # N-36
    mirror().check_arguments([PARAM], arguments)


def test_a_number_beyond_what_floats_can_say_is_compared_exactly() -> None:  # N-37
    mirrored = mirror(mcp_param_x=str(2**53 + 1).encode())
    mirrored.check_arguments([PARAM], {"a": {"b": 2**53 + 1}})
    with pytest.raises(HeaderMismatch):
        mirrored.check_arguments([PARAM], {"a": {"b": 2**53}})


def test_a_repeated_header_is_a_mismatch() -> None:  # N-27
    with pytest.raises(HeaderMismatch):
        Mirror({b"mcp-method": b"ping"}, {b"mcp-method"}).check_request(Request(1, "ping", {}))
