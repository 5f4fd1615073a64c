"""The handshake era: opening, agreeing on a revision, and what a session then remembers."""

from typing import Any

import pytest
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.codec import Malformed
from mcp_server_core.protocol.revisions import HANDSHAKE, Revision
from mcp_server_core.protocol.session import HOW_TO_OPEN, Session

from .oracle import check
from .peer import (
    CAPABILITIES,
    DROPPED,
    INFO,
    PROFILE,
    Peer,
    Talk,
    enveloped,
    failure,
    initialize,
    notice,
    plain,
    profile,
    request,
    success,
)

handshake_revisions = pytest.mark.parametrize("revision", HANDSHAKE)
NOT_OPENED = (-32602, HOW_TO_OPEN, {"supported": ["2026-07-28"]})
METHODS = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources.subscribe",
    "resources/unsubscribe": "resources.subscribe",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
}


def opened(revision: str = "2025-11-25") -> Talk:
    """A session whose handshake is done."""
    session: Talk = Session(PROFILE)
    session.receive(initialize(0, revision))
    return session


# Before anything was agreed

FEATURES: dict[Revision, Any] = {
    "2024-11-05": {name: value for name, value in CAPABILITIES.items() if name != "completions"},
    "2025-03-26": CAPABILITIES,
    "2025-06-18": CAPABILITIES,
    "2025-11-25": CAPABILITIES,
}
IDENTITY: dict[Revision, Any] = {
    "2024-11-05": {"name": "server", "version": "2"},
    "2025-03-26": {"name": "server", "version": "2"},
    "2025-06-18": {"name": "server", "version": "2", "title": "The Server"},
    "2025-11-25": INFO,
}


def agreed(revision: Revision) -> dict[str, Any]:
    return {
        "protocolVersion": revision,
        "capabilities": FEATURES[revision],
        "serverInfo": IDENTITY[revision],
        "instructions": "Be kind.",
    }


@handshake_revisions
def test_an_offered_revision_that_is_supported_is_the_one_agreed_on(revision: Revision) -> None:
    # L-3, L-4, 1.2, 1.4; 2.4: `initialize` without claim
    session: Talk = Session(PROFILE)
    events = plain(session.receive(initialize("i", revision)))
    check(events[0][1], revision, "initialize")
    assert events == [("send", success("i", agreed(revision)))]


@pytest.mark.parametrize(
    "offered",
    [
        "2026-07-28",  # L-15: the stateless revision is not reached by handshake
        "2030-01-01",
        "2024-10-07",
        "1.0",
        "DRAFT-2025-v3",
        "",
        "2025-11-25 ",
        "2025\u201011\u201025",
        "x" * 10_000,
    ],
)
def test_any_other_offer_is_answered_with_the_newest_handshake_revision(offered: str) -> None:
    # L-5, L-15
    session: Talk = Session(PROFILE)
    assert plain(session.receive(initialize(1, offered))) == [("send", success(1, agreed("2025-11-25")))]


def test_instructions_are_left_out_when_there_are_none() -> None:
    # L-3
    session: Talk = Session(profile({}))
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": INFO}
    assert plain(session.receive(initialize(1))) == [("send", success(1, result))]


@pytest.mark.parametrize(
    "client", [{"name": "c", "version": "1", "title": "C", "icons": [], "x": 1}, {"name": "", "version": ""}]
)
def test_members_of_client_info_that_nobody_knows_do_no_harm(client: Any) -> None:
    # J-13
    session: Talk = Session(PROFILE)
    events = session.receive(initialize(1, clientInfo=client, extra=True, capabilities={"roots": {}, "x": 1}))
    assert plain(events) == [("send", success(1, agreed("2025-11-25")))]


@pytest.mark.parametrize("name", ["protocolVersion", "capabilities", "clientInfo"])
def test_initialize_without_one_of_its_three_members_is_refused(name: str) -> None:
    # L-1
    message = initialize(1)
    del message["params"][name]
    session: Talk = Session(PROFILE)
    [(kind, reply)] = plain(session.receive(message))
    check(reply, "2025-11-25")
    assert (kind, reply["id"], reply["error"]["code"]) == ("send", 1, -32602)


@pytest.mark.parametrize(
    "change",
    [{"protocolVersion": value} for value in (None, 20251125, 1.5, True, [], {}, ["2025-11-25"])]
    + [{"capabilities": value} for value in (None, 1, "x", [], True)]
    + [{"clientInfo": value} for value in (None, 1, "x", [], {}, {"name": "c"}, {"version": "1"})]
    + [{"clientInfo": {"name": value, "version": "1"}} for value in (None, 1, [], {})]
    + [{"clientInfo": {"name": "c", "version": value}} for value in (None, 1, [], {})],
    ids=repr,
)
def test_initialize_with_a_member_of_the_wrong_type_is_refused(change: dict[str, Any]) -> None:
    # L-1
    session: Talk = Session(PROFILE)
    [(kind, reply)] = plain(session.receive(initialize(1, **change)))
    check(reply, "2025-11-25")
    assert (kind, reply["id"], reply["error"]["code"]) == ("send", 1, -32602)


def test_a_refused_initialize_can_be_repeated() -> None:
    session: Talk = Session(PROFILE)
    session.receive(initialize(1, capabilities=None))
    assert plain(session.receive(initialize(1))) == [("send", success(1, agreed("2025-11-25")))]


@pytest.mark.parametrize("method", [*METHODS, "logging/setLevel", "server/discover", "no/such", ""])
def test_a_request_before_the_handshake_is_told_both_ways_in(method: str) -> None:
    # L-17, L-22; 2.4: other request without claim, no handshake
    session: Talk = Session(PROFILE)
    assert plain(session.receive(request(1, method, {}))) == [("send", failure(1, *NOT_OPENED))]


def test_the_refusal_names_the_handshake_and_the_envelope() -> None:
    # L-17
    assert [
        word in HOW_TO_OPEN
        for word in ("initialize", "_meta", "io.modelcontextprotocol/protocolVersion", "clientCapabilities")
    ] == [True] * 4


def test_ping_is_answered_before_the_handshake() -> None:
    # PI-1; 2.4: `ping` without claim
    session: Talk = Session(PROFILE)
    assert plain(session.receive(request("p", "ping"))) == [("send", success("p", {}))]


@handshake_revisions
def test_ping_is_answered_after_the_handshake_and_before_initialized(revision: Revision) -> None:
    # PI-1
    reply = plain(opened(revision).receive(request(1, "ping", {"_meta": {"progressToken": 1}})))
    check(reply[0][1], revision, "ping")
    assert reply == [("send", success(1, {}))]


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/roots/list_changed", "notifications/progress"]
)
def test_notifications_of_the_handshake_era_are_ignored_before_the_handshake(method: str) -> None:
    # 2.4
    session: Talk = Session(PROFILE)
    assert plain(session.receive(notice(method, {}))) == DROPPED


def test_initialize_as_a_notification_opens_nothing() -> None:
    # J-7
    session: Talk = Session(PROFILE)
    message = initialize()
    del message["id"]
    assert (plain(session.receive(message)), session.handshake) == (DROPPED, None)


# After the handshake


@handshake_revisions
def test_a_second_initialize_is_refused(revision: Revision) -> None:
    # L-16
    reply = plain(opened(revision).receive(initialize(2, "2024-11-05")))
    check(reply[0][1], revision)
    assert reply == [("send", failure(2, -32600, "Already initialized"))]


def test_a_second_initialize_changes_nothing() -> None:
    # L-16
    session = opened("2024-11-05")
    session.receive(initialize(2, "2025-11-25", capabilities={"roots": {}}))
    assert session.handshake is not None
    assert (session.handshake.revision, session.handshake.capabilities) == ("2024-11-05", {})


@handshake_revisions
@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/roots/list_changed", "notifications/progress"]
)
def test_notifications_of_the_handshake_era_are_heard_after_the_handshake(
    revision: Revision, method: str
) -> None:
    # 2.4
    params = {"progressToken": 1, "progress": 1}
    assert plain(opened(revision).receive(notice(method, params))) == [("notified", method, params)]


def test_a_peer_counts_as_initialized_only_once_it_says_so() -> None:
    # L-44: unsolicited notifications go to peers that completed the handshake.
    session = opened()
    assert session.handshake is not None
    before = session.handshake.initialized
    session.receive(notice("notifications/initialized"))
    assert (before, session.handshake.initialized) == (False, True)


@handshake_revisions
@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_era_is_served(revision: Revision, method: str) -> None:
    # 1.1; 2.4: other request without claim, handshake done
    assert plain(opened(revision).receive(request("r", method, {}))) == [("serve", "r", method)]


@handshake_revisions
@pytest.mark.parametrize("method", [*METHODS, "logging/setLevel"])
def test_a_method_of_a_capability_that_is_not_offered_does_not_exist(revision: Revision, method: str) -> None:
    # 3.2, L-11: everything but what this method needs is offered
    path = METHODS.get(method, "logging")
    capabilities = {**CAPABILITIES, "resources": dict(CAPABILITIES["resources"])}
    if path == "resources.subscribe":
        del capabilities["resources"]["subscribe"]
    else:
        del capabilities[path]
    peer = Peer(revision, profile(capabilities))
    reply = peer.reply(request(1, method, {"level": "info"}))
    assert reply == failure(1, -32601, f"Method not found: {method}")


@handshake_revisions
@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
def test_a_capability_declared_as_false_is_not_offered(revision: Revision, method: str) -> None:
    # 1.2
    peer = Peer(revision, profile({"resources": {"subscribe": False}}))
    assert peer.reply(request(1, method, {"uri": "a:b"})) == failure(1, -32601, f"Method not found: {method}")


@handshake_revisions
@pytest.mark.parametrize(
    "method",
    [
        "server/discover",
        "subscriptions/listen",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tasks/cancel",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "notifications/initialized",
        "notifications/cancelled",
        "rpc.discover",
        "tools/List",
        "tools/list ",
        "__class__",
        "",
    ],
)
def test_an_unknown_method_does_not_exist(revision: Revision, method: str) -> None:
    # 1.1, 3.2. A notification's name with an id is a request that nobody answers.
    peer = Peer(revision)
    [event] = plain(peer.session.receive(request("u", method)))
    check(event[1], revision)
    assert event == ("send", failure("u", -32601, f"Method not found: {method}"))


@handshake_revisions
@pytest.mark.parametrize("meta", [None, 1, "x", [], True])
@pytest.mark.parametrize("method", ["ping", "tools/list", "initialize"])
def test_a_meta_that_is_no_object_is_refused(revision: Revision, method: str, meta: Any) -> None:
    # J-12
    reply = Peer(revision).reply(request(1, method, {"_meta": meta}))
    assert (reply["id"], reply["error"]["code"]) == (1, -32602)


@handshake_revisions
def test_a_claim_of_the_agreed_revision_is_opaque(revision: Revision) -> None:
    # 2.4: claim of a handshake revision, handshake done with that same revision
    scope = Peer(revision).open("tools/list", meta={"io.modelcontextprotocol/protocolVersion": revision})
    assert (scope.era.stateless, scope.revision) == (False, revision)


@pytest.mark.parametrize(
    ("revision", "claim"),
    [(revision, claim) for revision in HANDSHAKE for claim in (*HANDSHAKE, "v999", "") if claim != revision],
)
def test_a_claim_of_any_other_revision_is_unsupported(revision: Revision, claim: str) -> None:
    # L-23; 2.4: request with claim, any other value
    [event] = plain(opened(revision).receive(enveloped(1, "tools/list", version=claim)))
    check(event[1], "2026-07-28")
    data = {"supported": ["2026-07-28"], "requested": claim}
    assert event == ("send", failure(1, -32022, "Unsupported protocol version", data))


@handshake_revisions
def test_a_request_is_served_with_what_the_handshake_agreed_on(revision: Revision) -> None:
    # 1.5
    peer = Peer(revision, capabilities={"sampling": {}})
    scope = peer.open("tools/call", {"name": "t"}, id="x", meta={"trace": 1, "progressToken": "p"})
    assert (
        scope.id,
        scope.method,
        scope.params,
        scope.meta,
        scope.revision,
        scope.capabilities,
        scope.client,
        scope.progress_token,
    ) == (
        "x",
        "tools/call",
        {"name": "t", "_meta": {"trace": 1, "progressToken": "p"}},
        {"trace": 1, "progressToken": "p"},
        revision,
        {"sampling": {}},
        {"name": "client", "version": "1"},
        "p",
    )


# logging/setLevel


@handshake_revisions
@pytest.mark.parametrize(
    "level", ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
)
def test_every_log_level_can_be_set(revision: Revision, level: str) -> None:
    # G-2
    assert Peer(revision).reply(request(1, "logging/setLevel", {"level": level})) == success(1, {})


@handshake_revisions
@pytest.mark.parametrize(
    "params", [{}, *({"level": value} for value in ("loud", "INFO", "", 1, None, ["info"], {}))]
)
def test_a_bad_log_level_is_refused(revision: Revision, params: Any) -> None:
    # G-3
    reply = Peer(revision).reply(request(1, "logging/setLevel", params))
    assert (reply["id"], reply["error"]["code"]) == (1, -32602)


@handshake_revisions
def test_only_messages_of_the_level_that_was_set_and_above_are_logged(revision: Revision) -> None:
    # G-2
    peer = Peer(revision)
    peer.reply(request("l", "logging/setLevel", {"level": "warning"}))
    scope = peer.open("tools/list")
    sent = [
        scope.log("notice", "n", None),
        scope.log("warning", {"a": [1]}, "here"),
        scope.log("emergency", 0, None),
    ]
    for message in sent[1:]:
        check(message, revision)
    assert sent == [
        None,
        notice("notifications/message", {"level": "warning", "data": {"a": [1]}, "logger": "here"}),
        notice("notifications/message", {"level": "emergency", "data": 0}),
    ]


@handshake_revisions
def test_before_a_level_is_set_the_server_logs_from_info_on(revision: Revision) -> None:
    # G-2: no level set, the server decides.
    scope = Peer(revision).open("tools/list")
    assert [scope.log("debug", "d", None), scope.log("info", "i", None)] == [
        None,
        notice("notifications/message", {"level": "info", "data": "i"}),
    ]


@handshake_revisions
def test_a_level_that_is_set_holds_for_requests_already_running(revision: Revision) -> None:
    # G-2: state of the session, "then only that level and above".
    peer = Peer(revision)
    scope = peer.open("tools/list")
    peer.reply(request("l", "logging/setLevel", {"level": "error"}))
    assert scope.log("info", "still talking", None) is None


@handshake_revisions
def test_a_server_that_does_not_offer_logging_logs_nothing(revision: Revision) -> None:
    # G-1
    assert Peer(revision, profile({"tools": {}})).open("tools/list").log("error", "e", None) is None


def test_the_level_of_one_session_is_not_that_of_another() -> None:
    # G-2
    quiet, other = Peer("2025-11-25"), Peer("2025-11-25")
    quiet.reply(request("l", "logging/setLevel", {"level": "emergency"}))
    assert other.open("tools/list").log("info", "i", None) is not None


# Questions of the server, and their answers


@handshake_revisions
def test_a_question_is_a_request_and_its_answer_comes_back_to_the_asker(revision: Revision) -> None:
    # 2.4: response object, matches an outstanding server request
    session = Peer(revision).session
    id, message = session.ask("roots/list", None, "waiter")
    check(message, revision)
    assert message == request(id, "roots/list")
    assert plain(session.receive(success(id, {"roots": []}))) == [("answered", "waiter", {"roots": []}, None)]


def test_a_question_can_be_answered_with_an_error() -> None:
    session = opened()
    id, _ = session.ask("sampling/createMessage", {}, "w")
    assert plain(session.receive(failure(id, -1, "no"))) == [("answered", "w", None, (-1, "no"))]


def test_no_two_questions_have_the_same_id() -> None:
    # J-3
    session = opened()
    ids = [session.ask("roots/list", None, "w")[0] for _ in range(5)]
    session.abandon(ids[0], "enough")
    session.receive(success(ids[1], {}))
    ids += [session.ask("roots/list", None, "w")[0] for _ in range(5)]
    assert len(set(ids)) == 10


def test_answers_find_their_askers_in_any_order() -> None:
    session = opened()
    first, _ = session.ask("roots/list", None, "first")
    second, _ = session.ask("roots/list", None, "second")
    events = [*session.receive(success(second, {"b": 1})), *session.receive(success(first, {"a": 1}))]
    assert plain(events) == [("answered", "second", {"b": 1}, None), ("answered", "first", {"a": 1}, None)]


def test_a_second_answer_to_one_question_is_dropped() -> None:
    session = opened()
    id, _ = session.ask("roots/list", None, "w")
    session.receive(success(id, {}))
    assert plain(session.receive(success(id, {}))) == DROPPED


@pytest.mark.parametrize("id", [0, 99, -1, "1", "", 10**4000, "x" * 10_000])
@pytest.mark.parametrize("outcome", [{"result": {}}, {"error": {"code": 1, "message": "m"}}])
def test_an_answer_to_nobody_is_dropped(id: Any, outcome: Any) -> None:
    # 2.4: response object, otherwise drop. J-2: "1" is not 1.
    session = opened()
    session.ask("roots/list", None, "w")
    assert plain(session.receive({"jsonrpc": "2.0", "id": id, **outcome})) == DROPPED


@pytest.mark.parametrize("id", [True, 1.0, None, [1]])
def test_an_answer_whose_id_only_looks_alike_is_dropped(id: Any) -> None:
    # J-2: in Python 1 == True == 1.0.
    session = opened()
    session.ask("roots/list", None, "w")
    assert (plain(session.receive(success(id, {}))), len(session.waiting)) == (DROPPED, 1)


def test_an_answer_with_the_id_of_a_request_of_the_peer_is_not_mixed_up_with_it() -> None:
    # J-3: each direction counts its own ids.
    peer = Peer("2025-11-25")
    id, _ = peer.session.ask("roots/list", None, "w")
    scope = peer.open("tools/list", id=id)
    assert plain(peer.session.receive(success(id, {}))) == [("answered", "w", {}, None)]
    assert peer.session.finish(scope, {"tools": []}) == success(id, {"tools": []})


@handshake_revisions
def test_an_abandoned_question_is_cancelled_at_the_peer(revision: Revision) -> None:
    # CN-1
    session = Peer(revision).session
    id, _ = session.ask("roots/list", None, "w")
    message = session.abandon(id, "too late")
    check(message, revision)
    assert message == notice("notifications/cancelled", {"requestId": id, "reason": "too late"})


def test_a_late_answer_to_an_abandoned_question_is_dropped() -> None:
    # CN-3
    session = opened()
    id, _ = session.ask("roots/list", None, "w")
    session.abandon(id, "too late")
    assert plain(session.receive(success(id, {}))) == DROPPED


@pytest.mark.parametrize("how", ["answered", "abandoned", "never asked"])
def test_only_a_question_that_is_open_can_be_abandoned(how: str) -> None:
    # CN-1
    session = opened()
    id, _ = session.ask("roots/list", None, "w")
    if how == "answered":
        session.receive(success(id, {}))
    elif how == "abandoned":
        session.abandon(id, "first")
    assert session.abandon(99 if how == "never asked" else id, "again") is None


def test_a_peer_that_never_shook_hands_is_not_asked() -> None:
    # L-36: in the stateless era a server sends no requests. Doing so is a bug of ours, and loud.
    session: Talk = Session(PROFILE)
    with pytest.raises(LocalProtocolError):
        session.ask("roots/list", None, "w")


# What is no message at all

ERA = [None, *HANDSHAKE]


def at(revision: Revision | None) -> Talk:
    return Session(PROFILE) if revision is None else opened(revision)


@pytest.mark.parametrize("revision", ERA)
def test_a_line_that_cannot_be_read_is_a_parse_error_without_an_id(revision: Revision | None) -> None:
    # S-13, J-8
    [event] = plain(at(revision).receive(Malformed("Parse error: what was that?")))
    check(event[1], revision or "2026-07-28")
    assert event == ("send", failure(None, -32700, "Parse error: what was that?"))


@pytest.mark.parametrize("revision", ERA)
@pytest.mark.parametrize(
    "value", [None, True, False, 0, 1.5, "", "ping", {}, {"jsonrpc": "2.0"}, {"id": None}]
)
def test_json_that_is_no_message_is_an_invalid_request_without_an_id(
    revision: Revision | None, value: Any
) -> None:
    # 3.2, J-8
    [event] = plain(at(revision).receive(value))
    check(event[1], revision or "2026-07-28")
    assert event == ("send", failure(None, -32600, event[1]["error"]["message"]))


@pytest.mark.parametrize("revision", ERA)
@pytest.mark.parametrize("id", [None, True, False, 1.0, 2.5, [], {}])
def test_a_request_with_an_unreadable_id_is_refused_without_one(revision: Revision | None, id: Any) -> None:
    # J-2, J-8
    [event] = plain(at(revision).receive(request(id, "ping")))
    check(event[1], revision or "2026-07-28")
    assert event == ("send", failure(None, -32600, "`id` is a string or an integer"))


@pytest.mark.parametrize("revision", ERA)
@pytest.mark.parametrize("id", [0, "0", "", -5, 10**400, 2**64, "é\n\x00"])
def test_an_id_is_echoed_with_its_type(revision: Revision | None, id: Any) -> None:
    # J-2, J-5
    [event] = plain(at(revision).receive(request(id, "ping")))
    assert event == ("send", success(id, {}))
    assert type(event[1]["id"]) is type(id)


@pytest.mark.parametrize("revision", ERA)
@pytest.mark.parametrize("params", [None, [], [1, 2], "x", 1, False])
def test_params_that_are_no_object_are_refused_with_the_id(revision: Revision | None, params: Any) -> None:
    # J-12, E-10
    [event] = plain(at(revision).receive({**request("e", "ping"), "params": params}))
    check(event[1], revision or "2026-07-28")
    assert (event[0], event[1]["id"], event[1]["error"]["code"]) == ("send", "e", -32602)


@pytest.mark.parametrize("revision", ERA)
@pytest.mark.parametrize(
    "message",
    [
        notice("no/such"),
        notice(""),
        notice("ping"),
        notice("tools/list", {"_meta": 1}),
        {**notice("notifications/initialized"), "params": [1]},
        {"jsonrpc": "1.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": None},
    ],
)
def test_a_notification_is_never_answered_however_wrong_it_is(
    revision: Revision | None, message: Any
) -> None:
    # J-7, D-5
    assert plain(at(revision).receive(message)) == DROPPED


@pytest.mark.parametrize("revision", [None, "2024-11-05", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("array", [[], [1], [request(1, "ping")], [notice("x")], [initialize()], [[]]])
def test_an_array_is_refused_where_there_are_no_batches(revision: Revision | None, array: Any) -> None:
    # J-11, L-12; 2.4: array, otherwise
    [event] = plain(at(revision).receive(array))
    check(event[1], revision or "2026-07-28")
    assert event == (
        "send",
        failure(None, -32600, "This revision has no batches: send one message at a time"),
    )
