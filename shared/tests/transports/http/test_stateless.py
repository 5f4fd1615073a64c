"""The stateless form on the wire: in which order a POST is judged, and what its answer looks like (4.3)."""

import json
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import anyio
import pytest
from mcp_server_core import Registry, Server
from mcp_server_core.protocol.messages import Json, RequestId
from mcp_server_core.transports.http import minding

from ...protocol.oracle import check
from .serving import (
    BOTH,
    META,
    NEWEST,
    PATIENCE,
    PLAIN,
    Fields,
    Web,
    enveloped,
    notice,
    request,
    serving,
    text_of,
)
from .workshop import Workshop

pytestmark = pytest.mark.anyio
KEY = "one:0123456789abcdef0123456789abcdef"
ELICITS = {"elicitation": {}}


@pytest.fixture
def shop() -> Workshop:
    """What the server under test is made of."""
    return Workshop()


@pytest.fixture
async def web(shop: Workshop) -> AsyncGenerator[Web]:
    """A client of it."""
    async with serving(shop.server) as web:
        yield web


# The order of the checks.


class Step(NamedTuple):
    """A request in which one step of 4.3.3 and all later ones are wrong."""

    version: Any = "v999"
    header: str | None = None
    capabilities: Any = None
    mirrored: str | None = "tools/list"
    name: str | None = "other"
    method: str = "tools/none"
    arguments: Any = 5
    region: str | None = "mars"

    def build(self) -> tuple[Json, Fields]:
        meta = {META + "protocolVersion": self.version, META + "clientInfo": {"name": "c", "version": "1"}}
        if self.capabilities is not None:
            meta[META + "clientCapabilities"] = self.capabilities
        params = {"name": "ask", "arguments": self.arguments, "_meta": meta}
        fields = {
            "mcp-protocol-version": self.header,
            "mcp-method": self.mirrored,
            "mcp-name": self.name,
            "mcp-param-region": self.region,
        }
        return request(self.method, params, 7), fields


RIGHT = Step(NEWEST, NEWEST, {}, "tools/call", "ask", "tools/call", {"region": "moon"}, "moon")
STEPS = {
    "1: the version is no string": (Step(version=5), 400, -32602),
    "2: no version in the header": (Step(), 400, -32020),
    "2: another version in the header": (Step(header=NEWEST), 400, -32020),
    "3: a version that is not served": (Step(header="v999"), 400, -32022),
    "3: a version of the handshake": (Step("2025-11-25", "2025-11-25"), 400, -32022),
    "4: no capabilities": (Step(NEWEST, NEWEST), 400, -32602),
    "4: capabilities that are no object": (Step(NEWEST, NEWEST, []), 400, -32602),
    "5: no method in the header": (Step(NEWEST, NEWEST, {}, None), 400, -32020),
    "5: another method in the header": (Step(NEWEST, NEWEST, {}), 400, -32020),
    "5: no name in the header": (RIGHT._replace(name=None, arguments=5), 400, -32020),
    "5: another name in the header": (RIGHT._replace(name="x", arguments=5), 400, -32020),
    "6: an unknown method": (Step(NEWEST, NEWEST, {}, "tools/none"), 404, -32601),
    "6: a method nobody advertised": (
        RIGHT._replace(mirrored="completion/complete", method="completion/complete"),
        404,
        -32601,
    ),
    "7: arguments that are no object": (RIGHT._replace(arguments=5, region="mars"), 200, -32602),
    "8: another argument in the header": (RIGHT._replace(region="mars"), 400, -32020),
    "9: a capability that is missing": (RIGHT, 400, -32021),
}


@pytest.mark.parametrize("case", STEPS)
async def test_the_first_wrong_step_decides_the_answer(web: Web, case: str) -> None:
    step, status, code = STEPS[case]
    reply = await web.post(*step.build())
    assert (reply.status, reply.code) == (status, code)


@pytest.mark.parametrize("case", STEPS)
async def test_a_refusal_repeats_the_id_of_its_request(web: Web, case: str) -> None:  # E-10
    reply = await web.post(*STEPS[case][0].build())
    check(reply.json, NEWEST)
    assert reply.json["id"] == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"clientInfo": 5},
        {"clientInfo": {"name": "c"}},
        {"clientInfo": {"name": 5, "version": "1"}},
        {"logLevel": "loud"},
        {"logLevel": 5},
        {"logLevel": ["info"]},
    ],
)
async def test_a_wrong_member_of_the_envelope_is_refused(web: Web, wrong: Json) -> None:  # 4.3.3 step 4
    reply = await web.ask("tools/list", **wrong)
    assert (reply.status, reply.code) == (400, -32602)


async def test_a_request_without_envelope_is_refused_when_its_header_is_stateless(web: Web) -> None:
    reply = await web.post(request("tools/list"), {"mcp-protocol-version": NEWEST})  # 2.5 step 10
    assert (reply.status, reply.code) == (400, -32602)


@pytest.mark.parametrize("meta", [None, 5, [], "x", {}])
async def test_something_else_in_the_place_of_the_envelope_is_refused(web: Web, meta: Any) -> None:  # L-22
    reply = await web.post(request("tools/list", {"_meta": meta}), {"mcp-protocol-version": NEWEST})
    assert (reply.status, reply.code) == (400, -32602)


async def test_an_unknown_version_without_envelope_is_named_in_the_error(web: Web) -> None:  # 2.5 step 11
    reply = await web.post(request("tools/list"), {"mcp-protocol-version": "1999-01-01"})
    assert reply.status == 400
    assert reply.json["error"]["data"] == {"supported": [NEWEST], "requested": "1999-01-01"}


async def test_an_unsupported_version_is_answered_with_the_supported_ones(web: Web) -> None:  # L-23
    step = RIGHT._replace(version="v999", header="v999")
    reply = await web.post(*step.build())
    assert reply.json["error"]["data"] == {"supported": [NEWEST], "requested": "v999"}


async def test_a_missing_capability_is_named_as_an_object(web: Web) -> None:  # L-31
    reply = await web.call("sample")
    assert reply.json["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


# What a POST may be.


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[1", b"NaN", b"{}{}", b'{"a":Infinity}'])
async def test_a_body_that_is_no_json_is_a_parse_error_without_id(web: Web, body: bytes) -> None:
    reply = await web.send("POST", {**PLAIN, "mcp-protocol-version": NEWEST}, body)  # 2.5 step 5
    assert (reply.status, reply.code, "id" in reply.json) == (400, -32700, False)


@pytest.mark.parametrize("value", [[], [1], [enveloped("tools/list")[0]], [notice("x")]])
async def test_an_array_is_refused(web: Web, value: Any) -> None:  # N-2, J-11
    reply = await web.post(value, {"mcp-protocol-version": NEWEST})
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize(
    "value", [1, "x", None, True, {}, {"id": 1}, {"jsonrpc": "2.0", "id": None, "method": "x"}]
)
async def test_what_is_no_message_is_refused(web: Web, value: Any) -> None:  # 2.5 step 7
    reply = await web.post(value, {"mcp-protocol-version": NEWEST})
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize("id", [1, "1", 0, -1, "", 2**53])
async def test_the_id_comes_back_with_its_type(web: Web, id: RequestId) -> None:  # J-2
    answered = (await web.ask("tools/list", id=id)).json["id"]
    assert (answered, type(answered)) == (id, type(id))


@pytest.mark.parametrize("id", [None, True, 1.5, [], {}])
async def test_an_id_of_another_type_is_refused_without_id(web: Web, id: Any) -> None:  # J-2, J-8
    message, fields = enveloped("tools/list")
    reply = await web.post({**message, "id": id}, fields)
    assert (reply.status, reply.code, "id" in reply.json) == (400, -32600, False)


async def test_params_that_are_an_array_are_refused(web: Web) -> None:  # J-12
    reply = await web.post({"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": []})
    assert (reply.status, reply.code, reply.json["id"]) == (400, -32602, 3)


async def test_a_posted_answer_is_refused(web: Web) -> None:  # N-2, 2.5 step 14
    reply = await web.post({"jsonrpc": "2.0", "id": 1, "result": {}}, {"mcp-protocol-version": NEWEST})
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize(
    "message",
    [
        notice("notifications/initialized"),
        notice("notifications/cancelled", {"requestId": 1}),
        notice("notifications/made/up", {"x": 1}),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []},
    ],
)
@pytest.mark.parametrize("version", [NEWEST, None])
async def test_a_notification_is_accepted_without_a_word(
    web: Web, message: Json, version: str | None
) -> None:
    reply = await web.post(message, {"mcp-protocol-version": version})  # N-4, D-5
    assert (reply.status, reply.body) == (202, b"")


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
async def test_other_verbs_are_refused_at_this_revision(web: Web, verb: str) -> None:  # N-11
    reply = await web.send(verb, {"accept": BOTH, "mcp-protocol-version": NEWEST})
    assert (reply.status, reply.fields["allow"]) == (405, "POST")


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "HEAD", "TRACE"])
async def test_unknown_verbs_are_told_which_ones_there_are(web: Web, verb: str) -> None:  # 2.5 step 2
    reply = await web.send(verb, PLAIN)
    assert (reply.status, reply.fields["allow"]) == (405, "POST, GET, DELETE")


async def test_another_path_is_not_found(web: Web) -> None:  # N-1
    message, fields = enveloped("tools/list")
    reply = await web.send("POST", {**PLAIN, **fields}, json.dumps(message).encode(), path="/other")
    assert reply.status == 404


@pytest.mark.parametrize("kind", [None, "text/plain", "application/jsonx", "multipart/form-data", ""])
async def test_a_body_that_does_not_call_itself_json_is_refused(web: Web, kind: str | None) -> None:  # D-2
    assert (await web.ask("tools/list", fields={"content-type": kind})).status == 415


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", "application/json;x=y"]
)
async def test_parameters_and_case_of_the_type_do_not_matter(web: Web, kind: str) -> None:
    assert (await web.ask("tools/list", fields={"content-type": kind})).status == 200


@pytest.mark.parametrize(
    "accept", ["text/html", "image/*", "application/json;q=0", "application/json; q=0.0, text/html"]
)
async def test_a_client_that_takes_neither_form_is_refused(web: Web, accept: str) -> None:  # D-2
    assert (await web.ask("tools/list", fields={"accept": accept})).status == 406


@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/*", "application/json;q=0.01", "text/html, */*;q=0.1"]
)
async def test_what_covers_json_is_answered_with_json(web: Web, accept: str | None) -> None:  # D-2
    assert (await web.ask("tools/list", fields={"accept": accept})).kind == "application/json"


# Which methods there are.


async def test_discover_names_the_one_list_of_versions(web: Web) -> None:  # L-25, L-38
    assert (await web.ask("server/discover")).json["result"]["supportedVersions"] == [NEWEST]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (
            "initialize",
            {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
        ),
        ("ping", {}),
        ("logging/setLevel", {"level": "info"}),
        ("resources/subscribe", {"uri": "page:///one"}),
        ("resources/unsubscribe", {"uri": "page:///one"}),
        ("roots/list", {}),
        ("tasks/list", {}),
        ("", {}),
    ],
)
async def test_a_method_this_revision_does_not_have_is_not_found(web: Web, method: str, params: Json) -> None:
    reply = await web.ask(method, params)  # L-42, N-14
    assert (reply.status, reply.code) == (404, -32601)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("server/discover", {}),
        ("tools/list", {}),
        ("tools/call", {"name": "echo", "arguments": {"text": "hi"}}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "page:///one"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "you"}}),
    ],
)
async def test_a_method_is_answered_with_one_json_object(web: Web, method: str, params: Json) -> None:  # N-3
    reply = await web.ask(method, params)
    assert (reply.status, reply.kind, reply.json["id"]) == (200, "application/json", 1)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "nobody"}),
        ("prompts/get", {"name": "nobody"}),
        ("resources/read", {"uri": "nothing:///"}),
        ("tools/list", {"cursor": "made up"}),
    ],
)
async def test_params_that_do_not_fit_are_an_answer_like_any_other(
    web: Web, method: str, params: Json
) -> None:
    reply = await web.ask(method, params)  # D-3, E-4
    assert (reply.status, reply.code) == (200, -32602)


async def test_a_tool_that_fails_is_an_answer_like_any_other(web: Web) -> None:
    reply = await web.call("break_down")
    assert (reply.status, reply.json["result"]["isError"], b"secret" in reply.body) == (200, True, False)


# Nothing of the session form.


@pytest.mark.parametrize("tool", ["echo", "count"])
async def test_no_session_is_minted_or_echoed(web: Web, tool: str) -> None:  # N-12
    fields = {"mcp-session-id": "made-up", "last-event-id": "1-1"}
    reply = await web.call(tool, {"text": "x", "to": 1}, fields=fields, progressToken=1)
    assert (reply.status, "mcp-session-id" in reply.fields) == (200, False)


async def test_events_have_no_ids(web: Web) -> None:  # N-12
    reply = await web.call("count", {"to": 3}, progressToken=1)
    assert [event.id for event in reply.events] == [None] * 4


async def test_a_server_without_sessions_names_its_versions_to_old_clients() -> None:  # L-45
    async with serving(Workshop().server, sessions=False) as web:
        reply = await web.post(request("initialize", {"protocolVersion": "2025-11-25"}))
        assert (reply.status, reply.json["error"]["data"]["supported"]) == (400, [NEWEST])


# The answer is committed late.


async def test_the_first_notification_makes_a_stream_of_the_answer(web: Web) -> None:  # N-15
    reply = await web.call("count", {"to": 2}, progressToken="t")
    assert [said.get("method", "answer") for said in reply.messages] == ["notifications/progress"] * 2 + [
        "answer"
    ]


async def test_without_notifications_the_answer_is_json(web: Web) -> None:  # N-15
    assert (await web.call("count", {"to": 2})).kind == "application/json"


async def test_logs_travel_on_the_stream_of_their_request(web: Web) -> None:  # G-5
    reply = await web.call("count", {"to": 1}, logLevel="info")
    assert [said.get("method") for said in reply.messages] == ["notifications/message", None]


async def test_without_a_level_nothing_is_logged(web: Web) -> None:  # G-4
    assert (await web.call("count", {"to": 1})).messages[0]["result"]["resultType"] == "complete"


async def test_a_stream_asks_proxies_not_to_hold_it_back(web: Web) -> None:  # N-7
    reply = await web.call("count", {"to": 1}, progressToken=1)
    assert (reply.fields["x-accel-buffering"], reply.fields["cache-control"]) == (
        "no",
        "no-cache, no-transform",
    )


async def test_a_client_of_json_alone_gets_the_answer_without_what_came_before(web: Web) -> None:  # D-2
    reply = await web.call("count", {"to": 2}, progressToken=1, fields={"accept": "application/json"})
    assert text_of(reply.json["result"]) == "counted to 2"


@pytest.mark.parametrize("tool", ["echo", "count"])
async def test_a_client_of_streams_alone_gets_a_stream(web: Web, tool: str) -> None:  # D-2
    reply = await web.call(tool, {"text": "x", "to": 1}, fields={"accept": "text/event-stream"})
    assert len(reply.events) == 1


async def test_two_accept_lines_count_as_one_list(web: Web) -> None:  # D-2
    message, fields = enveloped("subscriptions/listen", {"notifications": 5})
    built = web.build("POST", {**PLAIN, **fields, "accept": None}, json.dumps(message).encode(), None)
    built.headers = type(built.headers)(
        [*built.headers.raw, (b"accept", b"application/json"), (b"accept", b"text/event-stream")]
    )
    assert (await web.exchange(built)).code == -32602


@pytest.mark.parametrize("accept", [BOTH, "text/event-stream"])
async def test_a_status_stays_honest_before_the_first_event(web: Web, accept: str) -> None:  # E-9
    reply = await web.call("ask", fields={"accept": accept})
    assert (reply.status, reply.code) == (400, -32021)


async def test_an_error_after_the_first_event_travels_as_an_event(web: Web) -> None:  # E-9
    reply = await web.call("ask", {"report": True}, progressToken=1)
    assert (reply.status, reply.messages[-1]["error"]["code"]) == (200, -32021)


async def test_a_long_call_becomes_a_stream(
    web: Web, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:  # N-8
    monkeypatch.setattr(minding, "COMMIT", 0.01)
    async with web.asking("tools/call", {"name": "wait", "arguments": {}}) as stream:
        shop.events.go.set()
        assert [said["id"] for said in await stream.rest()] == [1]


# Hanging up.


async def test_hanging_up_on_a_stream_cancels_the_call(web: Web, shop: Workshop) -> None:  # N-9
    call = {"name": "wait", "arguments": {"reports": 1}}
    async with web.asking("tools/call", call, progressToken=1) as stream:
        assert (await stream.message())["method"] == "notifications/progress"
    with anyio.fail_after(PATIENCE):
        await shop.events.cancelled.wait()


async def test_hanging_up_before_the_answer_cancels_the_call(web: Web, shop: Workshop) -> None:  # N-16
    message, fields = enveloped("tools/call", {"name": "wait", "arguments": {}})
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.post, message, fields)
            await shop.events.started.wait()
            tasks.cancel_scope.cancel()
        await shop.events.cancelled.wait()


async def test_a_posted_cancellation_is_accepted_and_ignored(web: Web, shop: Workshop) -> None:  # CN-7
    call = {"name": "wait", "arguments": {"reports": 1}}
    async with web.asking("tools/call", call, progressToken=1) as stream:
        await stream.message()
        cancel = notice("notifications/cancelled", {"requestId": 1})
        assert (await web.post(cancel, {"mcp-protocol-version": NEWEST})).status == 202
        shop.events.go.set()
        assert text_of((await stream.rest())[-1]["result"]) == "waited"


async def test_callers_may_use_the_same_id_at_once(web: Web, shop: Workshop) -> None:  # J-17
    call = {"name": "wait", "arguments": {"reports": 1}}
    async with (
        web.asking("tools/call", call, progressToken=1, id=5) as one,
        web.asking("tools/call", call, progressToken=1, id=5) as two,
    ):
        shop.events.go.set()
        assert [(await stream.rest())[-1]["id"] for stream in (one, two)] == [5, 5]


async def test_a_connection_serves_one_request_after_another(web: Web) -> None:
    for _ in range(3):
        assert (await web.call("count", {"to": 2}, progressToken=1)).status == 200
    assert (await web.call("nobody")).code == -32602


async def test_too_many_calls_at_once_are_sent_away() -> None:
    shop = Workshop()
    async with serving(shop.server, max_calls=1, max_waiting=0) as web:
        call = {"name": "wait", "arguments": {"reports": 1}}
        async with web.asking("tools/call", call, progressToken=1) as stream:
            await stream.message()
            assert (await web.call("echo", {"text": "x"})).status == 503
            shop.events.go.set()
            await stream.rest()
        assert (await web.call("echo", {"text": "x"})).status == 200


# Questions: the client comes back with the answers.


async def test_a_question_is_a_result_that_asks(web: Web) -> None:  # MR-2, MR-3
    result = (await web.call("ask", capabilities=ELICITS)).json["result"]
    assert (result["resultType"], list(result["inputRequests"])) == ("input_required", ["elicit"])


async def test_another_replica_takes_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:  # L-29, MR-13
    monkeypatch.setenv("MCP_STATE_KEY", KEY)
    async with serving(Workshop().server) as one, serving(Workshop().server) as two:
        asked = (await one.call("ask", capabilities=ELICITS)).json["result"]
        answered = await _answer(two, asked["requestState"])
    result = answered["result"]
    assert (result["resultType"], text_of(result)) == ("complete", "sure")  # MR-17


async def test_a_replica_with_another_key_refuses_the_state(monkeypatch: pytest.MonkeyPatch) -> None:  # MR-8
    monkeypatch.delenv("MCP_STATE_KEY", raising=False)
    async with serving(Workshop().server) as one, serving(Workshop().server) as two:
        asked = (await one.call("ask", capabilities=ELICITS)).json["result"]
        answered = await _answer(two, asked["requestState"])
    assert answered["error"]["code"] == -32602


async def test_an_edited_state_is_refused(web: Web) -> None:  # MR-8, MR-13
    state: str = (await web.call("ask", capabilities=ELICITS)).json["result"]["requestState"]
    name, body, mac = state.split(".")
    for edited in (f"{name}.{body[:-2]}AA.{mac}", f"{name}.{body}.{mac[::-1]}", body, "", "..", "é.é.é"):
        assert (await _answer(web, edited))["error"]["code"] == -32602


async def test_a_state_is_no_answer_to_another_call(web: Web) -> None:  # MR-9
    state = (await web.call("ask", capabilities=ELICITS)).json["result"]["requestState"]
    answered = await _answer(web, state, {"region": "moon"}, {"mcp-param-region": "moon"})
    assert answered["error"]["code"] == -32602


async def test_a_retry_without_answers_is_asked_again(web: Web) -> None:  # MR-11
    state = (await web.call("ask", capabilities=ELICITS)).json["result"]["requestState"]
    params = {"name": "ask", "arguments": {}, "requestState": state}
    again = (await web.ask("tools/call", params, capabilities=ELICITS)).json["result"]
    assert again["resultType"] == "input_required"


async def test_malformed_answers_are_refused(web: Web) -> None:  # MR-11
    params = {"name": "ask", "arguments": {}, "inputResponses": [1]}
    reply = await web.ask("tools/call", params, capabilities=ELICITS)
    assert (reply.status, reply.code) == (200, -32602)


async def _answer(web: Web, state: str, arguments: Json | None = None, fields: Fields | None = None) -> Json:
    """The retry of a call of `ask`, with an answer."""
    params = {
        "name": "ask",
        "arguments": arguments or {},
        "requestState": state,
        "inputResponses": {"elicit": {"action": "accept", "content": {"sure": True}}},
    }
    reply = await web.ask("tools/call", params, capabilities=ELICITS, fields=fields, id=2)
    assert reply.status == 200
    return reply.json


async def test_what_nobody_offers_is_not_found() -> None:  # L-37
    async with serving(Server("empty", version="1", parts=[Registry()])) as web:
        for method in ("tools/list", "resources/list", "prompts/list", "subscriptions/listen"):
            assert (await web.ask(method, {"notifications": {}})).status == 404
