"""Headers that repeat the body: what counts as equal, and what is refused (4.3.2, 4.3.4)."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import httpx
import pytest

from .serving import NEWEST, PLAIN, Fields, Reply, Web, enveloped, request, serving, text_of
from .workshop import Workshop

pytestmark = pytest.mark.anyio
ECHO = {"name": "echo", "arguments": {"text": "hi"}}


@pytest.fixture
async def web() -> AsyncGenerator[Web]:
    """A client of the server under test."""
    async with serving(Workshop().server) as web:
        yield web


async def send_lines(web: Web, message: Any, fields: Fields, lines: Sequence[tuple[bytes, bytes]]) -> Reply:
    """Post a message with these fields, and with lines exactly as they are given."""
    built = web.build("POST", {**PLAIN, **fields}, json.dumps(message).encode(), None)
    built.headers = httpx.Headers([*built.headers.raw, *lines])
    return await web.exchange(built)


def outcome(reply: Reply) -> tuple[int, int | None]:
    """The status, and the code of the error if there is one."""
    return reply.status, reply.json.get("error", {}).get("code")


# Version, method, name.


@pytest.mark.parametrize("field", ["mcp-protocol-version", "mcp-method", "mcp-name"])
async def test_a_missing_header_is_refused(web: Web, field: str) -> None:  # N-20 to N-23
    assert outcome(await web.ask("tools/call", ECHO, fields={field: None})) == (400, -32020)


@pytest.mark.parametrize("field", ["mcp-protocol-version", "mcp-method", "mcp-name"])
@pytest.mark.parametrize("value", ["", "other", "é".encode().decode("latin-1"), "=?base64?!?="])
async def test_a_header_that_says_something_else_is_refused(web: Web, field: str, value: str) -> None:  # N-23
    message, fields = enveloped("tools/call", ECHO)
    reply = await send_lines(
        web, message, {**fields, field: None}, [(field.encode(), value.encode("latin-1"))]
    )
    assert outcome(reply) == (400, -32020)


@pytest.mark.parametrize("field", ["mcp-protocol-version", "mcp-method", "mcp-name"])
@pytest.mark.parametrize("same", [True, False])
async def test_a_header_that_stands_twice_is_refused(web: Web, field: str, same: bool) -> None:  # N-27
    message, fields = enveloped("tools/call", ECHO)
    second = (fields[field] or "").encode() if same else b"other"
    assert outcome(await send_lines(web, message, fields, [(field.encode(), second)])) == (400, -32020)


@pytest.mark.parametrize("spell", [str.upper, str.title, str.lower])
async def test_the_case_of_a_name_does_not_matter(web: Web, spell: Any) -> None:  # N-24
    message, fields = enveloped("tools/call", ECHO)
    lines = [(spell(name).encode(), (value or "").encode()) for name, value in fields.items()]
    assert outcome(await send_lines(web, message, {}, lines)) == (200, None)


@pytest.mark.parametrize(("field", "value"), [("mcp-method", "Tools/Call"), ("mcp-name", "Echo")])
async def test_the_case_of_a_value_matters(web: Web, field: str, value: str) -> None:  # N-24
    assert outcome(await web.ask("tools/call", ECHO, fields={field: value})) == (400, -32020)


@pytest.mark.parametrize("field", ["mcp-protocol-version", "mcp-method", "mcp-name"])
@pytest.mark.parametrize(("before", "after"), [(b" ", b""), (b"", b" "), (b"\t ", b" \t")])
async def test_space_around_a_value_does_not_matter(
    web: Web, field: str, before: bytes, after: bytes
) -> None:  # N-24
    message, fields = enveloped("tools/call", ECHO)
    built = web.build(
        "POST", {**PLAIN, **fields, field: None, "connection": "close"}, json.dumps(message).encode(), None
    )
    lines = [*built.headers.raw, (field.encode(), before + (fields[field] or "").encode() + after)]
    head = b"".join(b"%b:%b\r\n" % line for line in lines)  # httpx would not send it
    answered = await web.raw(b"POST /mcp HTTP/1.1\r\n" + head + b"\r\n" + built.content)
    assert answered.startswith(b"HTTP/1.1 200 ")


async def test_a_name_may_come_in_base64(web: Web) -> None:  # N-25
    reply = await web.ask("tools/call", ECHO, fields={"mcp-name": "=?base64?ZWNobw==?="})
    assert outcome(reply) == (200, None)


@pytest.mark.parametrize(
    ("field", "value"), [("mcp-method", "dG9vbHMvY2FsbA=="), ("mcp-protocol-version", "MjAyNi0wNy0yOA==")]
)
async def test_method_and_version_are_never_decoded(web: Web, field: str, value: str) -> None:  # N-25
    assert outcome(await web.ask("tools/call", ECHO, fields={field: f"=?base64?{value}?="})) == (400, -32020)


@pytest.mark.parametrize("name", ["日本語", " echo", "echo\n", "=?base64?ZWNobw==?=", ""])
async def test_any_name_can_be_mirrored(web: Web, name: str) -> None:  # N-39: then the tool is merely unknown
    from mcp_server_core.protocol.headers import encode_value

    reply = await web.ask("tools/call", {"name": name}, fields={"mcp-name": encode_value(name)})
    assert outcome(reply) == (200, -32602)


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("prompts/get", {"name": "greet", "arguments": {"name": "you"}}, "greet"),
        ("resources/read", {"uri": "page:///one"}, "page:///one"),
    ],
)
@pytest.mark.parametrize("right", [True, False])
async def test_prompts_and_resources_are_mirrored_too(
    web: Web, method: str, params: Any, name: str, right: bool
) -> None:  # N-22
    reply = await web.ask(method, params, fields={"mcp-name": name if right else "other"})
    assert outcome(reply) == ((200, None) if right else (400, -32020))


@pytest.mark.parametrize("method", ["tools/list", "server/discover", "resources/list"])
async def test_a_name_where_none_is_needed_is_ignored(web: Web, method: str) -> None:  # N-27
    assert outcome(await web.ask(method, fields={"mcp-name": "whatever"})) == (200, None)


@pytest.mark.parametrize("name", [None, 5, {}, ["echo"]])
async def test_a_name_that_is_no_string_is_a_matter_of_params(web: Web, name: Any) -> None:  # 4.3.3 step 7
    message, fields = enveloped("tools/call")
    message["params"]["name"] = name
    assert outcome(await web.post(message, {**fields, "mcp-name": "echo"})) == (200, -32602)


async def test_a_header_alone_is_no_envelope(web: Web) -> None:  # N-26
    fields = {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": "echo"}
    assert outcome(await web.post(request("tools/call", ECHO), fields)) == (400, -32602)


async def test_a_repeated_version_cannot_hide_the_revision(web: Web) -> None:  # N-27
    message, fields = enveloped("tools/list")
    lines = [(b"mcp-protocol-version", b"2025-11-25"), (b"mcp-protocol-version", NEWEST.encode())]
    reply = await send_lines(web, message, {**fields, "mcp-protocol-version": None}, lines)
    assert outcome(reply) == (400, -32020)


# Arguments.


async def route(web: Web, arguments: Any, fields: Fields) -> Reply:
    """Call the tool whose arguments are mirrored."""
    return await web.call("route", arguments, fields=fields)


async def test_the_list_says_which_arguments_are_mirrored(web: Web) -> None:  # N-30
    tools = (await web.ask("tools/list")).json["result"]["tools"]
    properties = next(tool for tool in tools if tool["name"] == "route")["inputSchema"]["properties"]
    assert {name: schema["x-mcp-header"] for name, schema in properties.items()} == {
        "region": "Region",
        "shard": "Shard",
        "dry": "Dry-Run",
    }


EQUAL = [
    ("region", "us-west1", "us-west1"),
    ("region", "us west 1", "us west 1"),
    ("region", " us-west1", "=?base64?IHVzLXdlc3Qx?="),
    ("region", "us-west1", "=?base64?dXMtd2VzdDE=?="),
    ("region", "日本語", "=?base64?5pel5pys6Kqe?="),
    ("region", "line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("region", "=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ("region", "=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
    ("region", "", ""),
    ("shard", 42, "42"),
    ("shard", 42, "42.0"),
    ("shard", 42.0, "42"),
    ("shard", -7, "-7"),
    ("shard", 0, "0"),
    ("shard", 2**53 - 1, str(2**53 - 1)),
    ("dry-run", True, "true"),
    ("dry-run", False, "false"),
]
UNEQUAL = [
    ("region", "us-west1", None),
    ("region", "us-west1", "us-west2"),
    ("region", "us-west1", "US-WEST1"),
    ("region", "us-west1", ""),
    ("region", "Hello", "=?base64?SGVsbG8?="),
    ("region", "Hello", "=?base64?SGVs bG8=?="),
    ("region", "Hello", "=?BASE64?SGVsbG8=?="),
    ("region", "é", "=?base64?6Q==?="),
    ("region", "é", "é"),
    ("region", "a\tb", "a\tb"),
    ("shard", 42, "43"),
    ("shard", 42, "42.5"),
    ("shard", 42, "4_2"),
    ("shard", 42, "forty-two"),
    ("shard", 42, ""),
    ("shard", 42, None),
    ("shard", 2**53, str(2**53 + 1)),
    ("dry-run", True, "True"),
    ("dry-run", True, "1"),
    ("dry-run", False, None),
]


def split(header: str, value: Any, text: str | None) -> tuple[Any, list[tuple[bytes, bytes]]]:
    arguments = {"dry" if header == "dry-run" else header: value}
    lines = [] if text is None else [(f"mcp-param-{header}".encode(), text.encode())]
    return arguments, lines


@pytest.mark.parametrize(("header", "value", "text"), EQUAL)
async def test_an_argument_that_its_header_repeats_is_taken(
    web: Web, header: str, value: Any, text: str
) -> None:  # N-36 to N-40
    arguments, lines = split(header, value, text)
    message, fields = enveloped("tools/call", {"name": "route", "arguments": arguments})
    assert outcome(await send_lines(web, message, fields, lines)) == (200, None)


@pytest.mark.parametrize(("header", "value", "text"), UNEQUAL)
async def test_an_argument_that_its_header_does_not_repeat_is_refused(
    web: Web, header: str, value: Any, text: str | None
) -> None:  # N-36, N-37, N-40
    arguments, lines = split(header, value, text)
    message, fields = enveloped("tools/call", {"name": "route", "arguments": arguments})
    assert outcome(await send_lines(web, message, fields, lines)) == (400, -32020)


@pytest.mark.parametrize("arguments", [{}, {"region": None}, {"region": None, "shard": None}])
async def test_an_argument_that_is_absent_needs_no_header(web: Web, arguments: Any) -> None:  # N-36
    assert text_of((await route(web, arguments, {})).json["result"]) == "None None None"


async def test_a_parameter_that_stands_twice_is_refused(web: Web) -> None:  # N-27
    message, fields = enveloped("tools/call", {"name": "route", "arguments": {"region": "a"}})
    lines = [(b"mcp-param-region", b"a"), (b"Mcp-Param-Region", b"a")]
    assert outcome(await send_lines(web, message, fields, lines)) == (400, -32020)


async def test_a_parameter_nobody_announced_is_ignored(web: Web) -> None:  # N-44
    reply = await web.call("echo", {"text": "hi"}, fields={"mcp-param-text": "other"})
    assert outcome(reply) == (200, None)


async def test_the_body_is_what_counts(web: Web) -> None:  # the headers are compared, never read
    reply = await route(
        web, {"region": "moon", "shard": 7}, {"mcp-param-region": "moon", "mcp-param-shard": "7.0"}
    )
    assert text_of(reply.json["result"]) == "moon 7 None"
