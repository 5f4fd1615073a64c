"""The stateless era: each request brings its envelope, each result its stamps, and nothing is remembered."""

from typing import Any

import pytest
from mcp_server_core.errors import MissingCapability, ResourceNotFound
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.profile import CacheHint
from mcp_server_core.protocol.revisions import HANDSHAKE, Revision
from mcp_server_core.protocol.session import Send, Serve, Session

from .oracle import check
from .peer import (
    CAPABILITIES,
    DROPPED,
    INFO,
    META,
    NEWEST,
    PROFILE,
    STAMP,
    Peer,
    Talk,
    envelope,
    enveloped,
    failure,
    initialize,
    notice,
    plain,
    profile,
    request,
    success,
)

METHODS = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
}
RESULTS: dict[str, Json] = {
    "tools/list": {"tools": []},
    "tools/call": {"content": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
    "prompts/list": {"prompts": []},
    "prompts/get": {"messages": []},
    "completion/complete": {"completion": {"values": []}},
    "subscriptions/listen": {"_meta": {META + "subscriptionId": 1}},
}
CACHED = ("tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list")
UNCACHED = ("tools/call", "prompts/get", "completion/complete", "subscriptions/listen")

# The states a connection can be in when an enveloped request arrives: they must not matter (L-27, L-43).
STATES: list[Revision | None] = [None, *HANDSHAKE]
any_state = pytest.mark.parametrize("state", STATES)


def talk(state: Revision | None) -> Talk:
    session: Talk = Session(PROFILE)
    if state is not None:
        session.receive(initialize("open", state, capabilities={"sampling": {}, "roots": {}}))
        session.receive(notice("notifications/initialized"))
    return session


def refusal(message: Json, state: Revision | None = None) -> tuple[Any, int]:
    """The id and code of the error a request is refused with."""
    [event] = talk(state).receive(message)
    assert isinstance(event, Send)
    assert isinstance(event.message, dict)
    check(event.message, NEWEST)
    return event.message["id"], event.message["error"]["code"]


# The envelope


@any_state
@pytest.mark.parametrize("method", METHODS)
def test_an_enveloped_request_is_served_statelessly(state: Revision | None, method: str) -> None:
    # L-20, L-41, L-43; 2.4: request with claim of a served stateless revision
    [event] = talk(state).receive(enveloped("r", method))
    assert isinstance(event, Serve)
    scope = event.scope
    assert (scope.id, scope.method, scope.revision, scope.era.stateless) == ("r", method, NEWEST, True)


@any_state
def test_a_request_is_served_with_what_it_says_itself_and_nothing_else(state: Revision | None) -> None:
    # L-27, J-17: neither the handshake nor the request before it leaves a trace.
    session = talk(state)
    rich = enveloped(
        1, "tools/list", clientCapabilities={"elicitation": {}}, clientInfo={"name": "a", "version": "1"}
    )
    rich["params"]["_meta"][META + "logLevel"] = "debug"
    rich["params"]["_meta"]["progressToken"] = 5
    [first] = session.receive(rich)
    [second] = session.receive(enveloped(2, "tools/list"))
    assert isinstance(first, Serve)
    assert isinstance(second, Serve)
    found = [
        (scope.capabilities, scope.client, scope.era.log_level(scope), scope.progress_token)
        for scope in (first.scope, second.scope)
    ]
    assert found == [
        ({"elicitation": {}}, {"name": "a", "version": "1"}, "debug", 5),
        ({}, {}, None, None),
    ]


def test_client_info_may_be_absent() -> None:
    # L-21
    assert plain(talk(None).receive(enveloped(1, "tools/list"))) == [("serve", 1, "tools/list")]


@any_state
def test_unknown_keys_of_meta_reach_the_handler(state: Revision | None) -> None:
    # J-13
    message = enveloped(1, "tools/list")
    message["params"]["_meta"]["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    message["params"]["_meta"]["com.example/x"] = [1]
    [event] = talk(state).receive(message)
    assert isinstance(event, Serve)
    assert event.scope.meta == {
        **envelope(),
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "com.example/x": [1],
    }


def test_a_claim_without_client_capabilities_is_refused() -> None:
    # L-22
    message = request(1, "tools/list", {"_meta": {META + "protocolVersion": NEWEST}})
    assert refusal(message) == (1, -32602)


def test_client_capabilities_without_a_claim_are_refused() -> None:
    # L-22
    assert refusal(request(1, "tools/list", {"_meta": {META + "clientCapabilities": {}}})) == (1, -32602)


@any_state
@pytest.mark.parametrize(
    "change",
    [{"version": value} for value in (None, 20260728, 1.5, True, [], {}, [NEWEST])]
    + [{"clientCapabilities": value} for value in (None, 1, "x", [], True)]
    + [{"clientInfo": value} for value in (None, 1, "x", [], {}, {"name": "c"}, {"version": "1"})]
    + [{"clientInfo": {"name": 1, "version": "1"}}, {"clientInfo": {"name": "c", "version": None}}],
    ids=repr,
)
def test_an_envelope_with_a_field_of_the_wrong_type_is_refused(state: Revision | None, change: Any) -> None:
    # L-22, 4.3.3 steps 1 and 4
    assert refusal(enveloped(1, "tools/list", **change), state) == (1, -32602)


@pytest.mark.parametrize("level", ["loud", "INFO", "", 1, True, [], {}, ["info"], None], ids=repr)
def test_an_unknown_log_level_is_refused(level: Any) -> None:
    # G-6, 4.3.3 step 4: if present, one of eight
    assert refusal(enveloped(1, "tools/list", logLevel=level)) == (1, -32602)


@pytest.mark.parametrize("claim", [*HANDSHAKE, "2030-01-01", "2026-07-29", "v999", "", "2026-07-28 "])
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "initialize", "ping", "no/such"])
def test_a_claim_of_a_revision_that_is_not_served_is_unsupported(claim: str, method: str) -> None:
    # L-23, L-38; 2.4: any other value, also a handshake revision without a handshake
    session: Talk = Session(PROFILE)
    [event] = plain(session.receive(enveloped("v", method, version=claim)))
    check(event[1], NEWEST)
    data = {"supported": ["2026-07-28"], "requested": claim}
    assert event == ("send", failure("v", -32022, "Unsupported protocol version", data))


def test_an_unsupported_revision_is_reported_before_what_else_is_wrong() -> None:
    # 4.3.3: step 3 comes before steps 4 and 6
    assert refusal(enveloped(1, "no/such", version="v999", clientCapabilities=None)) == (1, -32022)


def test_a_broken_envelope_is_reported_before_an_unknown_method() -> None:
    # 4.3.3: step 4 comes before step 6
    assert refusal(enveloped(1, "no/such", clientCapabilities=None)) == (1, -32602)


@any_state
@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",  # PI-3
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/initialized",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "tasks/get",
        "tasks/result",  # TK-12
        "no/such",
        "",
    ],
)
def test_a_method_that_the_stateless_revision_does_not_have_does_not_exist(
    state: Revision | None, method: str
) -> None:
    # L-42, PI-3, R-12: the claim beats the method's name
    [event] = plain(talk(state).receive(enveloped(1, method, {"uri": "a:b", "level": "info"})))
    check(event[1], NEWEST)
    assert event == ("send", failure(1, -32601, f"Method not found: {method}"))


def test_an_enveloped_initialize_does_not_shake_hands() -> None:
    # L-42, L-43
    session = talk(None)
    message = initialize(1)
    message["params"]["_meta"] = envelope()
    session.receive(message)
    assert session.handshake is None


def test_enveloped_requests_do_not_stand_in_for_a_handshake() -> None:
    # L-43, L-27
    session = talk(None)
    session.receive(enveloped(1, "tools/list"))
    [event] = plain(session.receive(request(2, "tools/list")))
    assert (event[1]["id"], event[1]["error"]["code"]) == (2, -32602)


def test_enveloped_requests_do_not_get_in_the_way_of_a_handshake() -> None:
    # L-40, L-43
    session = talk(None)
    session.receive(enveloped(1, "tools/list"))
    [event] = plain(session.receive(initialize(2, "2025-06-18")))
    assert event[1]["result"]["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_both_eras_are_answered_in_turns_each_in_its_own_shape(revision: Revision) -> None:
    # L-40, L-43, CA-12
    session = talk(revision)
    shapes: list[Any] = []
    for message in (enveloped(1, "tools/list"), request(2, "tools/list"), enveloped(3, "tools/list")):
        [event] = session.receive(message)
        assert isinstance(event, Serve)
        shapes.append(session.finish(event.scope, {"tools": [], "ttlMs": 5, "cacheScope": "public"}))
    stamped = {"resultType": "complete", "ttlMs": 5, "cacheScope": "public", "tools": [], "_meta": STAMP}
    assert shapes == [success(1, stamped), success(2, {"tools": []}), success(3, stamped)]


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/roots/list_changed", "notifications/progress"]
)
def test_notifications_of_the_handshake_era_mean_nothing_to_a_stateless_connection(method: str) -> None:
    # L-44; 2.4: otherwise ignore
    session = talk(None)
    session.receive(enveloped(1, "tools/list"))
    assert plain(session.receive(notice(method, {"_meta": envelope()}))) == DROPPED


# What is offered


@pytest.mark.parametrize("method", METHODS)
def test_a_method_of_a_capability_that_is_not_advertised_does_not_exist(method: str) -> None:
    # L-37
    capabilities = {name: value for name, value in CAPABILITIES.items() if name != METHODS[method]}
    peer = Peer(NEWEST, profile(capabilities))
    assert peer.reply(enveloped(1, method)) == failure(1, -32601, f"Method not found: {method}")


@pytest.mark.parametrize(
    "capabilities",
    [
        {"tools": {"listChanged": True}},
        {"prompts": {"listChanged": True}},
        {"resources": {"listChanged": True}},
        {"resources": {"subscribe": True}},
    ],
)
def test_listening_is_possible_when_there_is_anything_to_listen_to(capabilities: Json) -> None:
    # SU-10, L-37
    session: Talk = Session(profile(capabilities))
    events = session.receive(enveloped("s", "subscriptions/listen", {"notifications": {}}))
    assert plain(events) == [("serve", "s", "subscriptions/listen")]


@pytest.mark.parametrize(
    "capabilities",
    [{}, {"tools": {}, "resources": {}, "logging": {}}, {"tools": {"listChanged": False}}],
)
def test_listening_does_not_exist_when_there_is_nothing_to_listen_to(capabilities: Json) -> None:
    # SU-10
    peer = Peer(NEWEST, profile(capabilities))
    reply = peer.reply(enveloped(1, "subscriptions/listen", {"notifications": {}}))
    assert reply == failure(1, -32601, "Method not found: subscriptions/listen")


@any_state
def test_discover_says_what_the_server_is(state: Revision | None) -> None:
    # L-25, L-32, L-34, L-38, CA-1; identity only in `_meta`
    [event] = plain(talk(state).receive(enveloped("d", "server/discover")))
    check(event[1], NEWEST, "server/discover")
    result = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES,
        "instructions": "Be kind.",
        "ttlMs": 60_000,
        "cacheScope": "public",
        "_meta": {META + "serverInfo": INFO},
    }
    assert event == ("send", success("d", result))


def test_discover_promises_nothing_that_was_not_configured() -> None:
    # CA-11
    reply = Peer(NEWEST, profile({})).reply(enveloped(1, "server/discover"))
    result = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {},
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": STAMP,
    }
    assert reply == success(1, result)


def test_discover_advertises_what_is_offered_at_that_moment() -> None:
    # L-37
    offered: Json = {"tools": {}}
    session: Talk = Session(profile(offered))
    session.receive(enveloped(1, "server/discover"))
    offered["prompts"] = {}
    [event] = plain(session.receive(enveloped(2, "server/discover")))
    assert event[1]["result"]["capabilities"] == {"tools": {}, "prompts": {}}


def test_discover_leaves_nothing_in_flight() -> None:
    session = talk(None)
    session.receive(enveloped(1, "server/discover"))
    assert session.in_flight == {}


# Results


@pytest.mark.parametrize("method", CACHED)
def test_results_that_may_be_cached_carry_hints(method: str) -> None:
    # CA-1, CA-11, L-32, L-34
    result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": STAMP}
    assert Peer(NEWEST).answer(method, RESULTS[method]) == {**result, **RESULTS[method]}


@pytest.mark.parametrize("hint", [CacheHint(0), CacheHint(1500), CacheHint(7, public=True)])
def test_hints_of_the_handler_are_kept(hint: CacheHint) -> None:
    # CA-1
    result = Peer(NEWEST).answer("resources/read", {"contents": [], **hint.fields()})
    scope = "public" if hint.public else "private"
    assert result == {
        "resultType": "complete",
        "contents": [],
        "ttlMs": hint.ttl_ms,
        "cacheScope": scope,
        "_meta": STAMP,
    }


@pytest.mark.parametrize("method", UNCACHED)
def test_results_that_may_not_be_cached_carry_no_hints(method: str) -> None:
    # CA-1, L-32, L-34
    own = RESULTS[method].get("_meta", {})
    expected = {"resultType": "complete", **RESULTS[method], "_meta": {**STAMP, **own}}
    assert Peer(NEWEST).answer(method, RESULTS[method], {"notifications": {}}) == expected


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_a_question_carries_no_hints(method: str) -> None:
    # CA-2, MR-17
    asked: Json = {
        "resultType": "input_required",
        "inputRequests": {"roots-1": {"method": "roots/list"}},
        "requestState": "s",
    }
    assert Peer(NEWEST).answer(method, asked) == {**asked, "_meta": STAMP}


def test_meta_of_the_handler_stands_beside_the_stamp() -> None:
    # L-32, J-13
    result = Peer(NEWEST).answer("tools/call", {"content": [], "_meta": {"com.example/a": 1}})
    assert result == {
        "resultType": "complete",
        "content": [],
        "_meta": {"com.example/a": 1, META + "serverInfo": INFO},
    }


def test_a_result_of_the_handler_is_not_changed_by_its_stamps() -> None:
    result: Json = {"content": [], "_meta": {"a": 1}}
    Peer(NEWEST).answer("tools/call", result)
    assert result == {"content": [], "_meta": {"a": 1}}


# Errors


def test_a_missing_resource_is_a_bad_parameter() -> None:
    # R-3, E-4, E-11
    error = Peer(NEWEST).refusal("resources/read", ResourceNotFound("a:b"))
    assert error == {"code": -32602, "message": "Resource not found: a:b", "data": {"uri": "a:b"}}


@pytest.mark.parametrize(
    "required",
    [{"sampling": {}}, {"elicitation": {"url": {}}}, {"extensions": {"io.modelcontextprotocol/tasks": {}}}],
)
def test_a_missing_capability_is_named_as_an_object(required: Json) -> None:
    # L-31, 3.2, EX-3
    error = Peer(NEWEST).refusal("tools/call", MissingCapability(required))
    assert error == {
        "code": -32021,
        "message": f"The client does not support {next(iter(required))}, which this request needs.",
        "data": {"requiredCapabilities": required},
    }


# Logging


@pytest.mark.parametrize("level", ["debug", "error", "emergency"])
def test_without_a_level_in_the_request_nothing_is_logged(level: Any) -> None:
    # G-4
    assert Peer(NEWEST).open("tools/call").log(level, "x", None) is None


def test_with_a_level_in_the_request_that_level_and_above_is_logged() -> None:
    # G-5
    scope = Peer(NEWEST).open("tools/call", meta={META + "logLevel": "error"})
    sent = [scope.log("warning", 1, None), scope.log("error", 2, "l"), scope.log("alert", None, None)]
    for message in sent[1:]:
        check(message, NEWEST)
    assert sent == [
        None,
        notice("notifications/message", {"level": "error", "data": 2, "logger": "l"}),
        notice("notifications/message", {"level": "alert", "data": None}),
    ]


def test_a_level_set_by_a_handshake_says_nothing_about_enveloped_requests() -> None:
    # G-4, L-43
    session = talk("2025-11-25")
    session.receive(request(1, "logging/setLevel", {"level": "debug"}))
    [event] = session.receive(enveloped(2, "tools/call"))
    assert isinstance(event, Serve)
    assert event.scope.log("emergency", "x", None) is None


def test_a_level_in_a_request_says_nothing_about_the_session() -> None:
    # G-5, L-43
    session = talk("2025-11-25")
    session.receive(enveloped(1, "tools/call", logLevel="debug"))
    [event] = session.receive(request(2, "tools/call"))
    assert isinstance(event, Serve)
    assert event.scope.log("debug", "x", None) is None
