"""Every error of the core, and the code each one has on the wire.

Exception
├── ToolError                  what the model can do about it: shown as a result with isError
├── McpError                   a JSON-RPC error, sent or received; code, message, data
│   ├── ParseError             -32700  the peer sent something that is not JSON
│   ├── InvalidRequest         -32600  JSON, but not a message
│   ├── MethodNotFound         -32601
│   ├── InvalidParams          -32602
│   │   └── InvalidCursor
│   ├── InternalError          -32603
│   ├── ResourceNotFound       -32002 (handshake era) or -32602 (stateless era)
│   ├── HeaderMismatch         -32020  an HTTP header is missing, or says something else than the body
│   ├── MissingCapability      -32021  the client did not declare what the server needs
│   └── UnsupportedVersion     -32022
├── ConnectionLost             the peer is gone; raised locally, never sent
├── RequestTimeout             the peer did not answer in time; raised locally, never sent
└── LocalProtocolError         we broke a rule of the protocol: a bug of ours
"""

from collections.abc import Mapping
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class ToolError(Exception):
    """A failure the model should read: one sentence that says what to do about it."""


class McpError(Exception):
    """A JSON-RPC error. Raise a child of it to send one; catch it to see one the peer sent."""

    code = INTERNAL_ERROR

    def __init__(self, message: str, *, data: Any = None, code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
        if code is not None:
            self.code = code


class ParseError(McpError):
    """The peer sent something that is not JSON."""

    code = PARSE_ERROR


class InvalidRequest(McpError):
    """The peer sent JSON that is not a message, or a message at the wrong time."""

    code = INVALID_REQUEST


class MethodNotFound(McpError):
    """Nobody here answers that method, at that revision."""

    code = METHOD_NOT_FOUND

    def __init__(self, method: str) -> None:
        super().__init__(f"Method not found: {method}")


class InvalidParams(McpError):
    """The method exists, its params do not fit it."""

    code = INVALID_PARAMS


class InvalidCursor(InvalidParams):
    """A cursor that this server never gave out, or gave out for something else."""

    def __init__(self) -> None:
        super().__init__("Invalid cursor. Start again without one.")


class InternalError(McpError):
    """Something failed in here. The message never carries details."""

    code = INTERNAL_ERROR


class ResourceNotFound(McpError):
    """No resource has that URI."""

    code = RESOURCE_NOT_FOUND

    def __init__(self, uri: str) -> None:
        super().__init__(f"Resource not found: {uri}", data={"uri": uri})


class HeaderMismatch(McpError):
    """A header that repeats part of the body is missing, unreadable, or says something else."""

    code = HEADER_MISMATCH


class MissingCapability(McpError):
    """The client did not declare a capability that this request cannot do without."""

    code = MISSING_CAPABILITY

    def __init__(self, required: Mapping[str, Any]) -> None:
        names = ", ".join(required)
        super().__init__(
            f"The client does not support {names}, which this request needs.",
            data={"requiredCapabilities": dict(required)},
        )


class UnsupportedVersion(McpError):
    """A revision that this server does not serve statelessly."""

    code = UNSUPPORTED_VERSION

    def __init__(self, requested: str, supported: tuple[str, ...]) -> None:
        super().__init__(
            "Unsupported protocol version", data={"supported": list(supported), "requested": requested}
        )


class ConnectionLost(Exception):
    """The peer is gone, or the connection was closed on this side."""


class RequestTimeout(Exception):
    """The peer did not answer in time."""


class LocalProtocolError(Exception):
    """Our own side was about to break the protocol: a bug."""
