"""Batches, the one thing only 2025-03-26 has: an array in, at most one array out."""

from typing import Any

import pytest
from mcp_server_core.errors import ResourceNotFound
from mcp_server_core.protocol.codec import Malformed
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.scope import Scope
from mcp_server_core.protocol.session import MAX_BATCH, Event, Serve, Session

from .oracle import check
from .peer import (
    DROPPED,
    PROFILE,
    Peer,
    Talk,
    enveloped,
    failure,
    initialize,
    notice,
    plain,
    request,
    success,
)

BATCHES = "2025-03-26"


def opened() -> Talk:
    return Peer(BATCHES).session


def scopes(events: list[Event]) -> list[Scope]:
    return [event.scope for event in events if isinstance(event, Serve)]


def sent(events: list[Event]) -> list[Any]:
    """Every message among the events, held against the oracle."""
    found = [event[1] for event in plain(events) if event[0] == "send"]
    for message in found:
        check(message, BATCHES)
    return found


def cancelled(id: Any) -> Json:
    return notice("notifications/cancelled", {"requestId": id})


def test_requests_in_one_array_are_answered_in_one_array() -> None:
    # J-9, J-10; 2.4: array at 2025-03-26
    assert sent(opened().receive([request(1, "ping"), request("b", "ping")])) == [
        [success(1, {}), success("b", {})]
    ]


def test_an_array_of_one_is_answered_with_an_array_of_one() -> None:
    # J-10, K-10
    assert sent(opened().receive([request(1, "ping")])) == [[success(1, {})]]


def test_the_array_is_sent_once_the_last_request_is_answered() -> None:
    # J-10
    session = opened()
    events = session.receive(
        [request(1, "tools/list"), request(2, "ping"), request(3, "resources/read", {"uri": "a:b"})]
    )
    first, second = scopes(events)
    assert (sent(events), session.finish(first, {"tools": []})) == ([], None)
    assert session.refuse(second, ResourceNotFound("a:b")) == [
        success(2, {}),
        success(1, {"tools": []}),
        failure(3, -32002, "Resource not found: a:b", {"uri": "a:b"}),
    ]


def test_nothing_but_notifications_is_not_answered() -> None:
    # J-10
    events = opened().receive(
        [notice("notifications/roots/list_changed"), notice("no/such"), {"method": "x"}]
    )
    assert plain(events) == [("notified", "notifications/roots/list_changed", {}), ("dropped",), ("dropped",)]


def test_an_empty_array_is_one_invalid_request() -> None:
    # J-10
    assert sent(opened().receive([])) == [failure(None, -32600, "A batch is not empty")]


@pytest.mark.parametrize("value", [1, None, "x", [], {}, [request(2, "ping")], {"jsonrpc": "2.0"}])
def test_an_invalid_element_has_an_entry_of_its_own(value: Any) -> None:
    # J-10
    [[entry, pong]] = sent(opened().receive([value, request(1, "ping")]))
    assert (entry, pong) == (failure(None, -32600, entry["error"]["message"]), success(1, {}))


def test_an_invalid_element_with_an_id_keeps_it() -> None:
    # E-10, J-10
    [[entry]] = sent(opened().receive([{**request("x", "ping"), "params": []}]))
    assert (entry["id"], entry["error"]["code"]) == ("x", -32602)


def test_an_unknown_method_has_an_entry_of_its_own() -> None:
    events = opened().receive([request(1, "no/such"), request(2, "ping")])
    assert sent(events) == [[failure(1, -32601, "Method not found: no/such"), success(2, {})]]


def test_an_array_of_answers_is_delivered() -> None:
    # J-9
    session = opened()
    one, _ = session.ask("roots/list", None, "one")
    two, _ = session.ask("roots/list", None, "two")
    events = session.receive([success(two, {"b": 2}), failure(one, -1, "no"), success(99, {})])
    assert plain(events) == [
        ("answered", "two", {"b": 2}, None),
        ("answered", "one", None, (-1, "no")),
        *DROPPED,
    ]


@pytest.mark.parametrize(
    "batch",
    [
        [initialize(5)],
        [request(1, "ping"), initialize(5)],
        [request(1, "tools/list"), initialize(5), request(2, "ping")],
        [{"method": "initialize"}],
    ],
)
def test_a_batch_with_initialize_in_it_is_refused_as_a_whole(batch: list[Any]) -> None:
    # L-12
    session = opened()
    assert sent(session.receive(batch)) == [failure(None, -32600, "`initialize` does not go into a batch")]
    assert session.in_flight == {}


def test_a_handshake_cannot_begin_inside_a_batch() -> None:
    # L-12
    session: Talk = Session(PROFILE)
    [reply] = sent(session.receive([initialize(1, BATCHES), request(2, "ping")]))
    assert (reply["error"]["code"], session.handshake) == (-32600, None)


def test_a_batch_of_the_largest_size_is_answered() -> None:
    # SEC-17
    [replies] = sent(opened().receive([request(id, "ping") for id in range(MAX_BATCH)]))
    assert replies == [success(id, {}) for id in range(MAX_BATCH)]


def test_a_batch_over_the_largest_size_is_refused_as_a_whole() -> None:
    # SEC-17
    session = opened()
    [reply] = sent(session.receive([request(id, "tools/list") for id in range(MAX_BATCH + 1)]))
    assert (reply, session.in_flight) == (failure(None, -32600, reply["error"]["message"]), {})


def test_an_id_used_twice_in_one_batch_is_refused_the_second_time() -> None:
    # J-3
    session = opened()
    events = session.receive([request(1, "tools/list"), request(1, "tools/list"), request(2, "ping")])
    [scope] = scopes(events)
    replies = session.finish(scope, {"tools": []})
    assert replies == [
        failure(1, -32600, "That id is still in use by an earlier request"),
        success(2, {}),
        success(1, {"tools": []}),
    ]


def test_a_cancelled_request_is_missing_from_the_array() -> None:
    # CN-2, J-10
    session = opened()
    events = session.receive([request(1, "tools/list"), request(2, "tools/list")])
    first, second = scopes(events)
    assert plain(session.receive(cancelled(1))) == [("cancel", 1)]
    assert (session.finish(first, {"tools": []}), session.finish(second, {"tools": []})) == (
        None,
        [success(2, {"tools": []})],
    )


def test_cancelling_the_last_request_that_is_missing_sends_the_rest() -> None:
    # CN-2, J-10
    session = opened()
    session.receive([request(1, "tools/list"), request(2, "ping")])
    assert plain(session.receive(cancelled(1))) == [("cancel", 1), ("send", [success(2, {})])]


def test_a_batch_whose_requests_are_all_cancelled_is_not_answered() -> None:
    # CN-2, J-10: never an empty array
    session = opened()
    session.receive([request(1, "tools/list"), request(2, "tools/list")])
    events = [*session.receive(cancelled(1)), *session.receive(cancelled(2))]
    assert plain(events) == [("cancel", 1), ("cancel", 2)]


def test_a_request_cancelled_in_its_own_batch_is_missing_from_the_array() -> None:
    # CN-2
    events = opened().receive([request(1, "ping"), request(2, "tools/list"), cancelled(2)])
    assert plain(events) == [("serve", 2, "tools/list"), ("cancel", 2), ("send", [success(1, {})])]


def test_a_batch_is_answered_once_even_if_it_cancels_one_of_its_own_requests() -> None:
    # J-10: one array, with each reply once
    batch = [request(1, "ping"), request(2, "tools/list"), cancelled(2), request(3, "ping")]
    assert sent(opened().receive(batch)) == [[success(1, {}), success(3, {})]]


def test_a_batch_that_cancels_its_own_request_waits_for_the_requests_after_it() -> None:
    # J-10
    session = opened()
    batch = [request(1, "ping"), request(2, "tools/list"), cancelled(2), request(3, "tools/list")]
    events = session.receive(batch)
    assert (sent(events), session.finish(scopes(events)[-1], {"tools": []})) == (
        [],
        [success(1, {}), success(3, {"tools": []})],
    )


def test_two_batches_at_once_are_answered_each_on_its_own() -> None:
    # J-10
    session = opened()
    [first] = scopes(session.receive([request(1, "tools/list"), request(2, "ping")]))
    [second] = scopes(session.receive([request(3, "tools/list")]))
    assert session.finish(second, {"tools": []}) == [success(3, {"tools": []})]
    assert session.finish(first, {"tools": []}) == [success(2, {}), success(1, {"tools": []})]


def test_a_single_request_beside_a_batch_is_answered_alone() -> None:
    session = opened()
    session.receive([request(1, "tools/list")])
    [single] = scopes(session.receive(request(2, "tools/list")))
    assert session.finish(single, {"tools": []}) == success(2, {"tools": []})


@pytest.mark.parametrize("method", ["tools/list", "subscriptions/listen", "server/discover"])
def test_an_enveloped_request_does_not_go_into_a_batch(method: str) -> None:
    # J-11 and 2.5 #6: its revision has no batches; a listen stream would hold back the whole array for ever.
    session = opened()
    [reply] = sent(session.receive([request(1, "ping"), enveloped(2, method, {"notifications": {}})]))
    assert (reply["error"]["code"], session.in_flight) == (-32600, {})


def test_a_line_that_cannot_be_read_is_no_batch() -> None:
    # S-13
    assert sent(opened().receive(Malformed("Parse error"))) == [failure(None, -32700, "Parse error")]
