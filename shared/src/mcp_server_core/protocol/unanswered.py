"""What a channel reports in the place of a response when a request will never get one."""

from ..errors import ConnectionLost, McpError
from .messages import RequestId


class Unanswered:
    """Stands where a response should be: nobody will answer this request. The error is ours, not the peer's (E-7).

    Without an id it is news about the connection as a whole, not about one request.
    """

    __slots__ = ("error", "id")

    def __init__(self, id: RequestId | None, error: McpError | ConnectionLost) -> None:
        self.id = id
        self.error = error

    def __repr__(self) -> str:
        return f"Unanswered({self.id!r}, {self.error!r})"


class SessionGone(ConnectionLost):
    """The server has forgotten the session; only a fresh `initialize` helps (H-25)."""
