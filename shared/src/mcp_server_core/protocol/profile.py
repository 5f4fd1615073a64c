"""Who the server is and what it offers, as the protocol needs to know it."""

from collections.abc import Callable
from typing import NamedTuple

from .messages import Json


class CacheHint(NamedTuple):
    """How long, and for whom, a client may keep a result (CA-1). The default promises nothing (CA-11)."""

    ttl_ms: int = 0
    public: bool = False

    def fields(self) -> Json:
        """The members as they stand in a result."""
        return {"ttlMs": self.ttl_ms, "cacheScope": "public" if self.public else "private"}


class Profile(NamedTuple):
    """The server's own description, in the newest shape."""

    info: Json
    capabilities: Callable[[], Json]
    instructions: str | None = None
    cache: CacheHint = CacheHint()
