"""Who may come in from where: `Host` and `Origin` against DNS rebinding, CORS for pages that are allowed.

A rebinding page calls us under its own name, so it is known by its `Host` and its `Origin`; names that only this
machine has, and plain addresses, cannot be rebound.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from ...protocol.http import Head
from .answer import Field
from .settings import LOOPBACK, HttpSettings

_REMEMBERED = 256
_ALLOWED_HEADERS = "Content-Type, Accept, Authorization, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name"


class Doors:
    """The checks that come before anything else (2.5, step 1)."""

    def __init__(self, settings: HttpSettings) -> None:
        self._local = settings.is_local
        self._origins = frozenset(origin.lower() for origin in settings.origins)
        self._names = set(LOOPBACK) | {settings.host.lower()}
        if settings.public_url is not None:
            self._names.add((urlsplit(settings.public_url).hostname or "").lower())
        self._known_hosts: dict[bytes, bool] = {}

    def allows_host(self, head: Head) -> bool:
        """Whether the request names this server as it may be named (D-1)."""
        host = head.fields.get(b"host", b"")
        known = self._known_hosts.get(host)
        if known is None:
            known = self._judge_host(host.decode("latin-1").lower()) and b"host" not in head.repeated
            if len(self._known_hosts) < _REMEMBERED:
                self._known_hosts[host] = known
        return known and b"host" not in head.repeated

    def _judge_host(self, host: str) -> bool:
        name = _host_name(host)
        if name is None:
            return False
        if name in self._names:
            return True
        return not self._local and _is_address(name)

    def allows_origin(self, head: Head) -> bool:
        """Whether a page that sends this `Origin` may call; other clients send none (H-6, N-13)."""
        if b"origin" not in head.fields:
            return True
        origin = head.fields[b"origin"].decode("latin-1").lower()
        if b"origin" in head.repeated:
            return False
        if origin in self._origins:
            return True
        scheme, _, authority = origin.partition("://")
        if scheme not in ("http", "https") or _host_name(authority) is None:
            return False
        if authority == head.fields.get(b"host", b"").decode("latin-1").lower():
            return True  # our own origin: its host was judged before
        return self._local and _host_name(authority) in LOOPBACK

    def cors(self, head: Head) -> list[Field]:
        """What lets the page of an allowed origin read the answer (D-14)."""
        origin = head.fields.get(b"origin")
        if origin is None or origin.decode("latin-1").lower() not in self._origins:
            return []
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", b"Mcp-Session-Id, WWW-Authenticate"),
            (b"vary", b"Origin"),
        ]

    def preflight(self, head: Head, verbs: str) -> list[Field]:
        """The answer to a browser that asks before it sends; parameter headers are named as it names them."""
        allowed = self.cors(head)
        if not allowed:
            return []
        asked = (head.text(b"access-control-request-headers") or "").split(",")
        params = [name.strip() for name in asked if name.strip().lower().startswith("mcp-param-")]
        tokens = [
            name for name in params if name.replace("-", "").replace("_", "").isalnum() and name.isascii()
        ]
        return [
            *allowed,
            (b"access-control-allow-methods", verbs.encode()),
            (b"access-control-allow-headers", ", ".join([_ALLOWED_HEADERS, *tokens]).encode()),
            (b"access-control-max-age", b"600"),
        ]


def _host_name(host: str) -> str | None:
    """The name in `name:port` or `[address]:port`; None when it is neither."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        if not bracket or (port and not _is_port(port)):
            return None
        return name
    name, colon, port = host.partition(":")
    if not name or (colon and not _is_port(colon + port)):
        return None
    return name


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
