"""The four kinds of JSON-RPC messages, and how to tell what a JSON value is."""

from typing import Any, TypeAlias, TypeVar

from ..errors import InvalidParams, InvalidRequest, McpError

RequestId: TypeAlias = str | int
Json: TypeAlias = dict[str, Any]

T = TypeVar("T")
_NAMES: dict[type[Any], str] = {
    str: "a string",
    int: "an integer",
    dict: "an object",
    list: "an array",
    bool: "true or false",
}


class Request:
    """Somebody wants an answer."""

    __slots__ = ("id", "method", "params")

    def __init__(self, id: RequestId, method: str, params: Json) -> None:
        self.id = id
        self.method = method
        self.params = params

    @property
    def meta(self) -> Json:
        """`params._meta`, or an empty object."""
        return take_object(self.params, "_meta", {})


class Notification:
    """Somebody says something and wants no answer."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: Json) -> None:
        self.method = method
        self.params = params


class Response:
    """The answer to a request of ours: a result, or an error."""

    __slots__ = ("error", "id", "result")

    def __init__(self, id: RequestId, result: Json | None, error: McpError | None) -> None:
        self.id = id
        self.result = result
        self.error = error


class Invalid:
    """No message, or one we cannot take. `id` is what an error reply repeats; None leaves it out (J-8).

    `silent` marks what must not be answered: broken notifications and broken responses (J-7).
    """

    __slots__ = ("error", "id", "silent")

    def __init__(self, error: McpError, id: RequestId | None = None, *, silent: bool = False) -> None:
        self.error = error
        self.id = id
        self.silent = silent


Message: TypeAlias = Request | Notification | Response | Invalid


def classify(value: Any) -> Message:
    """Say which kind of message a JSON value is. Arrays are not looked into: see `session`."""
    if type(value) is not dict:
        return Invalid(InvalidRequest("A message is a JSON object"))
    has_id = "id" in value
    raw_id = value.get("id")
    # J-2: a string or an integer; in Python a bool is an int, on the wire it is not.
    readable: RequestId | None = raw_id if type(raw_id) is str or type(raw_id) is int else None
    if "method" not in value:
        if "result" in value or "error" in value:
            return _classify_response(value, readable)
        return Invalid(InvalidRequest("Neither a request, a notification nor a response"), readable)
    method = value["method"]
    if value.get("jsonrpc") != "2.0":
        return Invalid(InvalidRequest('Every message has "jsonrpc": "2.0"'), readable, silent=not has_id)
    if type(method) is not str:
        return Invalid(InvalidRequest("`method` is a string"), readable, silent=not has_id)
    if has_id and readable is None:
        return Invalid(InvalidRequest("`id` is a string or an integer"))
    params = value.get("params", _NO_PARAMS)
    if type(params) is not dict:
        # J-12: an envelope that is fine with params that are not.
        return Invalid(InvalidParams("`params` is an object"), readable, silent=not has_id)
    if readable is None:
        return Notification(method, params)
    return Request(readable, method, params)


_NO_PARAMS: Json = {}


def _classify_response(value: Json, id: RequestId | None) -> Message:
    result, error = value.get("result"), value.get("error")
    if id is None or ("result" in value) == ("error" in value):
        return Invalid(InvalidRequest("A response has an id and either a result or an error"), silent=True)
    if "result" in value:
        if type(result) is not dict:
            return Response(id, None, McpError("The peer answered with a result that is no object"))
        return Response(id, result, None)
    return Response(id, None, read_error(error))


def read_error(value: Any) -> McpError:
    """The error a peer sent, as an exception; odd shapes do not spoil it (D-6)."""
    if type(value) is not dict:
        return McpError("The peer answered with an error of unknown shape")
    code, message = value.get("code"), value.get("message")
    return McpError(
        message if type(message) is str else "unknown error",
        code=code if type(code) is int else None,
        data=value.get("data"),
    )


def request(id: RequestId, method: str, params: Json | None = None) -> Json:
    """A request as it goes over the wire."""
    if params is None:
        return {"jsonrpc": "2.0", "id": id, "method": method}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def notification(method: str, params: Json | None = None) -> Json:
    """A notification as it goes over the wire."""
    if params is None:
        return {"jsonrpc": "2.0", "method": method}
    return {"jsonrpc": "2.0", "method": method, "params": params}


def success(id: RequestId, result: Json) -> Json:
    """A response with a result."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failure(id: RequestId | None, error: McpError) -> Json:
    """A response with an error; without an id when the request's id could not be read (J-8)."""
    body: Json = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    if id is None:
        return {"jsonrpc": "2.0", "error": body}
    return {"jsonrpc": "2.0", "id": id, "error": body}


_MISSING: Any = object()


def take(params: Json, name: str, kind: type[T], default: Any = _MISSING) -> T:
    """One member of params, with the type it must have; InvalidParams names it if it does not fit."""
    value = params.get(name, _MISSING)
    if value is _MISSING:
        if default is _MISSING:
            raise InvalidParams(f"`{name}` is missing: expected {_NAMES[kind]}")
        return default
    # type() and not isinstance(): a bool is no integer here.
    if type(value) is not kind:
        raise InvalidParams(f"`{name}` is {_NAMES[kind]}")
    return value


def take_object(params: Json, name: str, default: Any = _MISSING) -> Json:
    """One member of params that must be an object."""
    return take(params, name, dict, default)
