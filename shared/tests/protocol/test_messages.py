"""What a JSON value is: one of four kinds of messages, or none that we can take."""

from typing import Any

import pytest
from mcp_server_core.errors import (
    InternalError,
    InvalidCursor,
    InvalidParams,
    InvalidRequest,
    McpError,
    MethodNotFound,
    MissingCapability,
    ParseError,
    ResourceNotFound,
    UnsupportedVersion,
)
from mcp_server_core.protocol.messages import (
    Invalid,
    Message,
    Notification,
    Request,
    Response,
    classify,
    failure,
    notification,
    read_error,
    request,
    success,
    take,
    take_object,
)

from .oracle import check

INVALID_REQUEST, INVALID_PARAMS = -32600, -32602


def shown(message: Message) -> tuple[Any, ...]:
    """A message as a value that can be compared; ids with their type, since 1 == True in Python."""
    match message:
        case Request():
            return ("request", type(message.id), message.id, message.method, message.params)
        case Notification():
            return ("notification", message.method, message.params)
        case Response():
            error = message.error
            return ("response", message.id, message.result, error and (error.code, error.message, error.data))
        case Invalid():
            return ("silent" if message.silent else "invalid", message.id, message.error.code)


# J-1, J-2, J-12: requests


@pytest.mark.parametrize("id", [0, 1, -1, 2**31, 2**53 + 1, 10**400, "", "1", "a b\n", "日本", "x" * 10_000])
def test_an_object_with_an_id_and_a_method_is_a_request_with_that_very_id(id: Any) -> None:
    value = {"jsonrpc": "2.0", "id": id, "method": "m", "params": {"a": 1}}
    assert shown(classify(value)) == ("request", type(id), id, "m", {"a": 1})


def test_a_request_without_params_has_empty_ones() -> None:
    assert shown(classify({"jsonrpc": "2.0", "id": 1, "method": "m"})) == ("request", int, 1, "m", {})


def test_unknown_members_are_ignored() -> None:
    # J-13
    value = {"jsonrpc": "2.0", "id": 1, "method": "m", "extra": [1], "Params": 2}
    assert shown(classify(value)) == ("request", int, 1, "m", {})


@pytest.mark.parametrize("id", [None, True, False, 1.0, 0.5, 1e300, [], [1], {}, {"a": 1}])
def test_a_request_whose_id_is_no_id_is_invalid_and_its_id_is_not_repeated(id: Any) -> None:
    # J-2, J-8
    value = {"jsonrpc": "2.0", "id": id, "method": "m"}
    assert shown(classify(value)) == ("invalid", None, INVALID_REQUEST)


@pytest.mark.parametrize("version", ["1.0", "2", "2.00", 2, 2.0, None, True, [], {}])
def test_a_request_of_another_jsonrpc_version_is_invalid(version: Any) -> None:
    # J-1
    assert shown(classify({"jsonrpc": version, "id": 1, "method": "m"})) == ("invalid", 1, INVALID_REQUEST)


def test_a_request_without_a_jsonrpc_version_is_invalid() -> None:
    # J-1
    assert shown(classify({"id": "x", "method": "m"})) == ("invalid", "x", INVALID_REQUEST)


@pytest.mark.parametrize("method", [None, 1, True, 1.5, [], ["m"], {}, {"m": 1}])
def test_a_request_whose_method_is_no_string_is_invalid(method: Any) -> None:
    assert shown(classify({"jsonrpc": "2.0", "id": 1, "method": method})) == ("invalid", 1, INVALID_REQUEST)


@pytest.mark.parametrize("params", [None, [], [1], "x", 1, True, 0.5])
def test_a_request_whose_params_are_no_object_has_invalid_params(params: Any) -> None:
    # J-12
    value = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}
    assert shown(classify(value)) == ("invalid", 1, INVALID_PARAMS)


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "text", [], [[]]])
def test_what_is_no_object_is_invalid(value: Any) -> None:
    assert shown(classify(value)) == ("invalid", None, INVALID_REQUEST)


@pytest.mark.parametrize("value", [{}, {"jsonrpc": "2.0"}, {"a": 1}, {"jsonrpc": "2.0", "params": {}}])
def test_an_object_that_is_no_message_is_invalid(value: Any) -> None:
    assert shown(classify(value)) == ("invalid", None, INVALID_REQUEST)


def test_an_object_that_is_no_message_but_has_an_id_keeps_it() -> None:
    # E-10
    assert shown(classify({"jsonrpc": "2.0", "id": "x"})) == ("invalid", "x", INVALID_REQUEST)


# J-7: notifications


@pytest.mark.parametrize(("params", "expected"), [({}, {}), ({"a": [1]}, {"a": [1]})])
def test_an_object_with_a_method_and_no_id_is_a_notification(params: Any, expected: Any) -> None:
    value = {"jsonrpc": "2.0", "method": "m", "params": params}
    assert shown(classify(value)) == ("notification", "m", expected)


@pytest.mark.parametrize(
    "value",
    [
        {"jsonrpc": "2.0", "method": 1},
        {"jsonrpc": "1.0", "method": "m"},
        {"method": "m"},
        {"jsonrpc": "2.0", "method": "m", "params": None},
        {"jsonrpc": "2.0", "method": "m", "params": [1]},
    ],
)
def test_a_broken_notification_is_never_answered(value: Any) -> None:
    assert shown(classify(value))[0] == "silent"


# J-5, J-6: responses


@pytest.mark.parametrize("id", [0, 7, "7"])
def test_an_object_with_an_id_and_a_result_is_a_response(id: Any) -> None:
    value = {"jsonrpc": "2.0", "id": id, "result": {"a": 1}}
    assert shown(classify(value)) == ("response", id, {"a": 1}, None)


def test_an_object_with_an_id_and_an_error_is_a_response() -> None:
    value = {"jsonrpc": "2.0", "id": 7, "error": {"code": -1, "message": "no", "data": [1]}}
    assert shown(classify(value)) == ("response", 7, None, (-1, "no", [1]))


@pytest.mark.parametrize("id", [None, True, 1.0, [], {}])
@pytest.mark.parametrize("outcome", [{"result": {}}, {"error": {"code": 1, "message": "m"}}])
def test_a_response_without_a_readable_id_is_not_answered(id: Any, outcome: Any) -> None:
    # J-7, J-8
    assert shown(classify({"jsonrpc": "2.0", "id": id, **outcome}))[0] == "silent"


def test_a_response_with_both_a_result_and_an_error_is_not_answered() -> None:
    value = {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "m"}}
    assert shown(classify(value))[0] == "silent"


@pytest.mark.parametrize("result", [None, [], "x", 1, True])
def test_a_result_that_is_no_object_reaches_the_asker_as_an_error(result: Any) -> None:
    message = classify({"jsonrpc": "2.0", "id": 1, "result": result})
    assert isinstance(message, Response)
    assert (message.id, message.result, type(message.error)) == (1, None, McpError)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": -32601, "message": "gone"}, (-32601, "gone", None)),
        ({"code": -32002, "message": "m", "data": {"uri": "x:"}}, (-32002, "m", {"uri": "x:"})),
        ({"code": "1", "message": 5}, (-32603, "unknown error", None)),
        ({"code": True, "message": "m"}, (-32603, "m", None)),
        ({"code": 1.5}, (-32603, "unknown error", None)),
        ({}, (-32603, "unknown error", None)),
    ],
)
def test_an_error_of_odd_shape_is_still_read(error: Any, expected: tuple[Any, ...]) -> None:
    # D-6
    found = read_error(error)
    assert (found.code, found.message, found.data) == expected


@pytest.mark.parametrize("code", [-32000, -32001, -32002, -32003, -32004, -32019])
def test_a_code_of_the_old_server_range_is_kept_and_means_nothing(code: int) -> None:
    # E-3: no typed error is made of it, whatever its data say
    found = read_error({"code": code, "message": "m", "data": {"requiredCapabilities": {}, "supported": []}})
    assert (type(found), found.code) == (McpError, code)


@pytest.mark.parametrize("error", [None, "no", 1, [], True])
def test_an_error_that_is_no_object_is_still_an_error(error: Any) -> None:
    # D-6
    message = classify({"jsonrpc": "2.0", "id": 1, "error": error})
    assert isinstance(message, Response)
    assert (message.id, message.result, type(message.error)) == (1, None, McpError)


# What we write


def test_messages_are_written_as_json_rpc_wants_them() -> None:
    # J-1, J-5
    written = [
        request("a", "ping"),
        request(1, "roots/list", {}),
        notification("notifications/tools/list_changed"),
        notification("notifications/resources/updated", {"uri": "x:"}),
        success(1, {}),
    ]
    assert written == [
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": "roots/list", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x:"}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ]


ERRORS: list[tuple[McpError, dict[str, Any]]] = [
    (ParseError("p"), {"code": -32700, "message": "p"}),
    (InvalidRequest("r"), {"code": -32600, "message": "r"}),
    (MethodNotFound("x/y"), {"code": -32601, "message": "Method not found: x/y"}),
    (InvalidParams("q"), {"code": -32602, "message": "q"}),
    (InvalidCursor(), {"code": -32602, "message": "Invalid cursor. Start again without one."}),
    (InternalError("i"), {"code": -32603, "message": "i"}),
    (ResourceNotFound("a:b"), {"code": -32002, "message": "Resource not found: a:b", "data": {"uri": "a:b"}}),
    (
        MissingCapability({"sampling": {"tools": {}}}),
        {
            "code": -32021,
            "message": "The client does not support sampling, which this request needs.",
            "data": {"requiredCapabilities": {"sampling": {"tools": {}}}},
        },
    ),
    (
        UnsupportedVersion("v999", ("2026-07-28",)),
        {
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": {"supported": ["2026-07-28"], "requested": "v999"},
        },
    ),
    (McpError("own", code=-7, data=0), {"code": -7, "message": "own", "data": 0}),
    (McpError("own", data=False), {"code": -32603, "message": "own", "data": False}),
]


@pytest.mark.parametrize(("error", "body"), ERRORS, ids=lambda item: type(item).__name__)
def test_each_error_has_its_code_and_data(error: McpError, body: dict[str, Any]) -> None:
    # 3.2, J-6
    reply = failure("x", error)
    check(reply, "2026-07-28")
    assert reply == {"jsonrpc": "2.0", "id": "x", "error": body}


def test_an_error_about_an_unreadable_id_leaves_it_out() -> None:
    # J-8
    reply = failure(None, ParseError("p"))
    check(reply, "2026-07-28")
    assert reply == {"jsonrpc": "2.0", "error": {"code": -32700, "message": "p"}}


# Taking params apart

VALUES: dict[type[Any], Any] = {str: "", int: 0, dict: {}, list: [], bool: False}


@pytest.mark.parametrize("kind", VALUES)
def test_a_member_of_the_right_type_is_taken(kind: type[Any]) -> None:
    assert take({"a": VALUES[kind]}, "a", kind) is VALUES[kind]


@pytest.mark.parametrize(
    ("kind", "value"),
    [(kind, value) for kind in VALUES for value in (*VALUES.values(), None, 1.0) if type(value) is not kind],
)
def test_a_member_of_another_type_is_refused_by_name(kind: type[Any], value: Any) -> None:
    with pytest.raises(InvalidParams, match=r"^`a` is "):
        take({"a": value}, "a", kind)


def test_a_missing_member_is_refused_by_name() -> None:
    with pytest.raises(InvalidParams, match=r"^`a` is missing: expected a string$"):
        take({}, "a", str)


def test_a_missing_member_with_a_default_is_the_default() -> None:
    assert take_object({}, "a", {"b": 1}) == {"b": 1}


def test_null_is_not_the_same_as_missing() -> None:
    with pytest.raises(InvalidParams):
        take({"a": None}, "a", str, "default")
