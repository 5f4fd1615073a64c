"""While a request is served, in any revision: its id, its end, its progress, its errors."""

from typing import Any

import pytest
from mcp_server_core.errors import (
    InternalError,
    InvalidCursor,
    InvalidParams,
    McpError,
    MissingCapability,
    ResourceNotFound,
)
from mcp_server_core.protocol.revisions import HANDSHAKE, REVISIONS, Revision
from mcp_server_core.protocol.scope import Scope

from .oracle import check
from .peer import DROPPED, META, NEWEST, Peer, enveloped, failure, notice, plain, request, success

every_revision = pytest.mark.parametrize("revision", REVISIONS)
IN_USE = (-32600, "That id is still in use by an earlier request")


def cancelled(**params: Any) -> dict[str, Any]:
    return notice("notifications/cancelled", params)


def code(reply: Any) -> int:
    return reply["error"]["code"]


# Ids


@every_revision
def test_an_id_that_is_in_flight_is_refused(revision: Revision) -> None:
    # J-3, J-4
    peer = Peer(revision)
    peer.open("tools/list", id="x")
    assert peer.reply(peer.request("x", "tools/list")) == failure("x", *IN_USE)


@every_revision
def test_a_refused_duplicate_does_not_disturb_the_request_in_flight(revision: Revision) -> None:
    # J-4
    peer = Peer(revision)
    scope = peer.open("completion/complete", id="x")
    peer.reply(peer.request("x", "completion/complete"))
    reply = peer.session.finish(scope, {"completion": {"values": []}})
    check(reply, revision, "completion/complete")
    assert isinstance(reply, dict)
    assert (reply["id"], reply["result"]["completion"]) == ("x", {"values": []})


@every_revision
def test_one_and_the_string_one_are_different_ids(revision: Revision) -> None:
    # J-2
    peer = Peer(revision)
    scopes = [peer.open("tools/list", id=1), peer.open("tools/list", id="1")]
    replies = [peer.session.finish(scope, {"tools": []}) for scope in scopes]
    assert [reply["id"] for reply in replies if isinstance(reply, dict)] == [1, "1"]


@every_revision
def test_an_id_is_free_again_once_it_was_answered(revision: Revision) -> None:
    # J-4
    peer = Peer(revision)
    peer.session.finish(peer.open("tools/list", id=1), {"tools": []})
    assert plain(peer.session.receive(peer.request(1, "tools/list"))) == [("serve", 1, "tools/list")]


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_ids_in_flight_are_shared_by_both_eras(revision: Revision) -> None:
    # J-4: one pipe, one table
    peer = Peer(revision)
    peer.open("tools/list", id=1)
    assert plain(peer.session.receive(enveloped(1, "tools/list"))) == [("send", failure(1, *IN_USE))]


@every_revision
def test_requests_are_answered_in_any_order(revision: Revision) -> None:
    # J-17
    peer = Peer(revision)
    scopes = [peer.open("tools/list", id=id) for id in range(5)]
    replies = [peer.session.finish(scope, {"tools": []}) for scope in reversed(scopes)]
    assert [reply["id"] for reply in replies if isinstance(reply, dict)] == [4, 3, 2, 1, 0]


@every_revision
@pytest.mark.parametrize("first", ["finish", "refuse"])
@pytest.mark.parametrize("second", ["finish", "refuse"])
def test_a_request_is_answered_only_once(revision: Revision, first: str, second: str) -> None:
    # J-5
    peer = Peer(revision)
    scope = peer.open("tools/list")

    def end(how: str) -> Any:
        if how == "finish":
            return peer.session.finish(scope, {"tools": []})
        return peer.session.refuse(scope, InternalError("x"))

    assert (end(first) is not None, end(second)) == (True, None)


@every_revision
def test_a_late_answer_does_not_free_an_id_that_is_used_again(revision: Revision) -> None:
    # J-4, CN-3
    peer = Peer(revision)
    old = peer.open("tools/list", id=1)
    peer.session.receive(cancelled(requestId=1))
    peer.open("tools/list", id=1)
    peer.session.finish(old, {"tools": []})
    assert peer.reply(peer.request(1, "tools/list")) == failure(1, *IN_USE)


# Cancellation


@every_revision
@pytest.mark.parametrize("id", [1, "1", "", 0, -7])
@pytest.mark.parametrize("more", [{}, {"reason": "bored"}, {"reason": 5}, {"_meta": 1}])
def test_a_request_in_flight_is_cancelled_by_its_id(revision: Revision, id: Any, more: Any) -> None:
    # CN-1, S-7; 2.4: notification `cancelled`, whichever era issued it
    peer = Peer(revision)
    scope = peer.open("tools/call", id=id)
    assert plain(peer.session.receive(cancelled(requestId=id, **more))) == [("cancel", id)]
    assert scope.closed


@every_revision
def test_a_cancelled_request_is_not_answered(revision: Revision) -> None:
    # CN-2, S-7
    peer = Peer(revision)
    scope = peer.open("tools/list")
    peer.session.receive(cancelled(requestId=1))
    assert (peer.session.finish(scope, {"tools": []}), peer.session.refuse(scope, InternalError("x"))) == (
        None,
        None,
    )


@every_revision
def test_nothing_more_is_said_about_a_cancelled_request(revision: Revision) -> None:
    # CN-2, S-7, PR-3
    peer = Peer(revision)
    scope = peer.open("tools/call", meta={"progressToken": 1, META + "logLevel": "debug"})
    peer.session.receive(cancelled(requestId=1))
    assert (scope.progress(1, None, None), scope.log("emergency", "x", None)) == (None, None)


@every_revision
def test_a_cancelled_id_is_free_again(revision: Revision) -> None:
    peer = Peer(revision)
    peer.open("tools/list", id=1)
    peer.session.receive(cancelled(requestId=1))
    assert plain(peer.session.receive(peer.request(1, "tools/list"))) == [("serve", 1, "tools/list")]


@every_revision
@pytest.mark.parametrize("id", [2, "1", "", 10**400])
def test_a_cancellation_of_something_not_in_flight_is_ignored(revision: Revision, id: Any) -> None:
    # CN-2, J-2
    peer = Peer(revision)
    peer.open("tools/list", id=1)
    assert (plain(peer.session.receive(cancelled(requestId=id))), list(peer.session.in_flight)) == (
        DROPPED,
        [1],
    )


@every_revision
def test_a_cancellation_that_comes_too_late_is_ignored(revision: Revision) -> None:
    # CN-3
    peer = Peer(revision)
    peer.session.finish(peer.open("tools/list"), {"tools": []})
    assert plain(peer.session.receive(cancelled(requestId=1))) == DROPPED


@every_revision
@pytest.mark.parametrize(
    "params",
    [{}, *({"requestId": value} for value in (None, True, 1.0, [], [1], {})), {"requestID": 1}, {"id": 1}],
)
def test_a_malformed_cancellation_is_ignored(revision: Revision, params: Any) -> None:
    # CN-4
    peer = Peer(revision)
    peer.open("tools/list", id=1)
    events = peer.session.receive(cancelled(**params))
    assert (plain(events), list(peer.session.in_flight)) == (DROPPED, [1])


@pytest.mark.parametrize("params", [None, [], [1], "1"])
def test_a_cancellation_without_an_object_is_ignored(params: Any) -> None:
    # CN-4, J-7
    peer = Peer(NEWEST)
    peer.open("tools/list", id=1)
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    assert (plain(peer.session.receive(message)), list(peer.session.in_flight)) == (DROPPED, [1])


@every_revision
def test_a_cancellation_with_an_id_is_a_request_and_cancels_nothing(revision: Revision) -> None:
    # J-7
    peer = Peer(revision)
    peer.open("tools/list", id=1)
    [event] = plain(peer.session.receive(peer.request(2, "notifications/cancelled", {"requestId": 1})))
    assert (event[1], list(peer.session.in_flight)) == (
        failure(2, -32601, "Method not found: notifications/cancelled"),
        [1],
    )


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_cancellation_reaches_an_enveloped_request_of_a_session_with_a_handshake(
    revision: Revision,
) -> None:
    # 2.4: whichever era issued it
    peer = Peer(revision)
    peer.session.receive(enveloped("e", "subscriptions/listen", {"notifications": {}}))
    assert plain(peer.session.receive(cancelled(requestId="e"))) == [("cancel", "e")]


def test_a_listen_stream_is_cancelled_like_any_request() -> None:
    # SU-9
    peer = Peer(NEWEST)
    scope = peer.open("subscriptions/listen", {"notifications": {}}, id="s")
    assert plain(peer.session.receive(cancelled(requestId="s"))) == [("cancel", "s")]
    assert peer.session.finish(scope, {"_meta": {META + "subscriptionId": "s"}}) is None


# Progress


@every_revision
@pytest.mark.parametrize("token", [0, 1, -1, 10**30, "", "t", "1"])
def test_progress_goes_to_the_token_of_the_request(revision: Revision, token: Any) -> None:
    # PR-1, PR-2
    message = Peer(revision).open("tools/call", meta={"progressToken": token}).progress(1, None, None)
    check(message, revision)
    assert message == notice("notifications/progress", {"progressToken": token, "progress": 1})


@every_revision
def test_progress_without_a_token_sends_nothing(revision: Revision) -> None:
    # PR-3
    assert Peer(revision).open("tools/call").progress(1, 2, "m") is None


@every_revision
@pytest.mark.parametrize("token", [None, True, 1.5, [], {}, ["t"]])
def test_what_is_no_token_counts_as_none(revision: Revision, token: Any) -> None:
    # PR-1
    assert Peer(revision).open("tools/call", meta={"progressToken": token}).progress(1, 2, "m") is None


@pytest.mark.parametrize(
    ("revision", "extra"),
    [(revision, {} if revision == "2024-11-05" else {"message": "half"}) for revision in REVISIONS],
)
def test_progress_has_a_message_since_2025_03_26(revision: Revision, extra: Any) -> None:
    # PR-2, PR-7
    message = Peer(revision).open("tools/call", meta={"progressToken": "t"}).progress(0.5, 1, "half")
    check(message, revision)
    params = {"progressToken": "t", "progress": 0.5, "total": 1, **extra}
    assert message == notice("notifications/progress", params)


def grown(scope: Scope, *values: float) -> list[Any]:
    sent = [scope.progress(value, None, None) for value in values]
    return [None if message is None else message["params"]["progress"] for message in sent]


@every_revision
def test_progress_only_grows(revision: Revision) -> None:
    # PR-2
    scope = Peer(revision).open("tools/call", meta={"progressToken": "t"})
    assert grown(scope, -5, -5, 0, 0.0, 0.5, 0.25, 1, 1.0, 1.5, 1, 2) == [-5, None, 0, None, 0.5, None, 1, None, 1.5, None, 2]  # fmt: skip


@every_revision
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")], ids=str)
def test_progress_that_is_no_number_is_not_sent(revision: Revision, value: float) -> None:
    # PR-2, D-7: JSON has no such number; it would go out as null.
    scope = Peer(revision).open("tools/call", meta={"progressToken": "t"})
    assert grown(scope, 1, value, 0.5, 2) == [1, None, None, 2]


@every_revision
@pytest.mark.parametrize("total", [float("nan"), float("inf")], ids=str)
def test_a_total_that_is_no_number_is_left_out(revision: Revision, total: float) -> None:
    # PR-2, D-7
    message = Peer(revision).open("tools/call", meta={"progressToken": "t"}).progress(1, total, None)
    assert message == notice("notifications/progress", {"progressToken": "t", "progress": 1})


@every_revision
@pytest.mark.parametrize("end", ["finish", "refuse"])
def test_an_answered_request_says_no_more(revision: Revision, end: str) -> None:
    # PR-3, G-8
    peer = Peer(revision)
    scope = peer.open("tools/call", meta={"progressToken": "t", META + "logLevel": "debug"})
    if end == "finish":
        peer.session.finish(scope, {"content": []})
    else:
        peer.session.refuse(scope, InternalError("x"))
    assert (scope.progress(1, None, None), scope.log("emergency", "x", None)) == (None, None)


# Errors

NOT_FOUND = {"message": "Resource not found: a:b", "data": {"uri": "a:b"}}


@pytest.mark.parametrize(
    ("revision", "code"), [(revision, -32602 if revision == NEWEST else -32002) for revision in REVISIONS]
)
def test_a_missing_resource_has_the_code_of_its_revision(revision: Revision, code: int) -> None:
    # E-4, E-11
    assert Peer(revision).refusal("resources/read", ResourceNotFound("a:b")) == {"code": code, **NOT_FOUND}


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_missing_capability_has_no_code_of_its_own_before_2026_07_28(revision: Revision) -> None:
    # L-31, D-11, 3.2
    error = Peer(revision).refusal("tools/call", MissingCapability({"sampling": {}}))
    assert error == {
        "code": -32600,
        "message": "The client does not support sampling, which this request needs.",
    }


@every_revision
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InvalidParams("q", data=[1]), {"code": -32602, "message": "q", "data": [1]}),
        (InvalidCursor(), {"code": -32602, "message": "Invalid cursor. Start again without one."}),
        (InternalError("i"), {"code": -32603, "message": "i"}),
        (McpError("own", code=1234), {"code": 1234, "message": "own"}),  # E-6
        (McpError("own", code=-31999), {"code": -31999, "message": "own"}),
    ],
    ids=lambda item: type(item).__name__,
)
def test_other_errors_are_the_same_in_every_revision(
    revision: Revision, error: McpError, expected: Any
) -> None:
    # 3.2, E-6, E-10
    assert Peer(revision).refusal("tools/call", error) == expected


@pytest.mark.parametrize("code", [-32099, -32050, -32042, -32023])
def test_a_reserved_code_that_is_not_defined_is_not_sent(code: int) -> None:
    # E-1, E-4: a handler may raise anything
    error = Peer(NEWEST).refusal("tools/call", McpError("x", code=code))
    assert error == {"code": -32603, "message": "x"}


@pytest.mark.parametrize("code", [-32000, -32001, -32002, -32003, -32004, -32019])
def test_a_code_of_the_old_server_range_is_not_sent(code: int) -> None:
    # E-2, E-4: never -32001, -32003, -32004
    error = Peer(NEWEST).refusal("tools/call", McpError("x", code=code))
    assert error["code"] in (-32602, -32603)


@every_revision
@pytest.mark.parametrize("id", [0, "", "x", 10**300, -1])
def test_an_error_echoes_the_id_of_its_request(revision: Revision, id: Any) -> None:
    # E-10
    peer = Peer(revision)
    replies = [
        peer.session.refuse(peer.open("tools/call", id=id), InternalError("i")),
        peer.reply(peer.request(id, "tools/call", {}) | {"jsonrpc": "1.0"}),
        peer.session.refuse(peer.open("tools/call", id=id), ResourceNotFound("a:b")),
    ]
    assert [reply["id"] for reply in replies if isinstance(reply, dict)] == [id] * 3


# Survival


@every_revision
def test_a_good_request_is_served_after_everything_that_was_wrong(revision: Revision) -> None:
    # S-13: keep reading
    peer = Peer(revision)
    for value in (
        None,
        [],
        {},
        "x",
        request(None, "ping"),
        {"method": 1},
        success(9, {}),
        notice("x"),
        [[[]]],
    ):
        peer.session.receive(value)
    assert peer.answer("prompts/get", {"messages": []})["messages"] == []
