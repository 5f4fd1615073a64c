"""One request while it is served: what it asked, at which revision, for whom.

The revision is a property of the request and never of the process, so it lives here.
"""

from math import isfinite
from typing import Any, Protocol

from ..errors import McpError
from .messages import Json, Request, RequestId, notification
from .revisions import LOG_LEVELS, LogLevel, Revision


class Era(Protocol):
    """What the two lifecycles do differently to a request on its way in and out."""

    stateless: bool

    def log_level(self, scope: "Scope") -> LogLevel | None:
        """The lowest level the client wants to hear of, or None for nothing."""
        ...

    def finish(self, scope: "Scope", result: Json) -> Json:
        """The result of a request, in the shape of its revision."""
        ...

    def refuse(self, scope: "Scope", error: McpError) -> McpError:
        """The error of a request, with the code its revision gives it."""
        ...


class Scope:
    """One request in flight."""

    __slots__ = (
        "batch",
        "capabilities",
        "client",
        "closed",
        "era",
        "id",
        "meta",
        "method",
        "mirror",
        "params",
        "progress_sent",
        "progress_token",
        "revision",
        "runner",
    )

    def __init__(
        self,
        request: Request,
        era: Era,
        revision: Revision,
        client: Json,
        capabilities: Json,
    ) -> None:
        self.id: RequestId = request.id
        self.method = request.method
        self.params = request.params
        self.meta = request.meta
        self.era = era
        self.revision: Revision = revision
        self.client = client
        self.capabilities = capabilities
        token = self.meta.get("progressToken")
        # PR-1: a string or an integer; anything else is no token.
        self.progress_token: str | int | None = token if type(token) is str or type(token) is int else None
        self.progress_sent = float("-inf")
        self.mirror: Any = None  # the Mirror of a request that came over HTTP, set by the stateless era
        self.batch: Any = None  # the Batch this request came in, set by the session
        self.runner: Any = None  # whatever the caller needs to stop the work, set by the caller
        self.closed = False  # answered or cancelled: nothing more may be sent for it (PR-3, CN-2)

    def progress(self, done: float, total: float | None, message: str | None) -> Json | None:
        """A progress notification, or None when nobody asked or nothing grew (PR-2)."""
        if self.progress_token is None or self.closed or not isfinite(done) or done <= self.progress_sent:
            return None
        self.progress_sent = done
        params: Json = {"progressToken": self.progress_token, "progress": done}
        if total is not None and isfinite(total):
            params["total"] = total
        if message is not None and self.revision != "2024-11-05":  # PR-7
            params["message"] = message
        return notification("notifications/progress", params)

    def log(self, level: LogLevel, data: Any, logger: str | None) -> Json | None:
        """A log notification, or None when the client does not want that level (G-2, G-4)."""
        wanted = self.era.log_level(self)
        if wanted is None or self.closed or LOG_LEVELS.index(level) < LOG_LEVELS.index(wanted):
            return None
        params: Json = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        return notification("notifications/message", params)
