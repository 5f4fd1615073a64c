"""Where a server listens, whom it lets in, and every limit it sets to what clients may cost."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

MIB = 1024 * 1024
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The choices of an operator; the defaults are safe and fit one machine."""

    host: str = "127.0.0.1"
    port: int = 8000
    path: str = "/mcp"
    public_url: str | None = None
    """The URL under which clients know the endpoint, where that is another one: behind a proxy, by a name."""
    origins: tuple[str, ...] = ()
    """Origins of web pages that may call the server from a browser."""
    sessions: bool = True
    """Whether handshake clients are served. Several processes behind one port cannot: sessions live in one."""

    max_body: int = 16 * MIB
    max_bodies: int = 256 * MIB
    """How much of long bodies may be in memory at once, over all requests."""
    max_head: int = 32 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    stalled_seconds: float = 30.0
    """How long a client may leave what is sent to it unread."""
    keep_alive_seconds: float = 75.0
    drain_seconds: float = 10.0
    """How long calls in flight may take after the server was told to stop."""

    max_connections: int = 4096
    max_calls: int = 256
    max_waiting: int = 1024
    max_listeners: int = 2048
    max_sessions: int = 1024
    session_idle_seconds: float = 1800.0
    ping_seconds: float = 15.0
    """How often an open stream gets a comment, so that nobody on the way takes it for dead."""

    def __post_init__(self) -> None:
        if not self.path.startswith("/") or self.path in ("/", "/health", "/sse", "/messages"):
            raise ValueError(f"--path {self.path!r} is no path of its own, like /mcp")
        if self.public_url is not None and not _is_url(self.public_url):
            raise ValueError(f"--public-url {self.public_url!r} is no http(s) URL without query and fragment")
        for origin in self.origins:
            if not _is_url(origin) or urlsplit(origin).path:
                raise ValueError(f"--allow-origin {origin!r} is no origin, like https://app.example.com")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        if self.host in LOOPBACK:
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, port: int) -> str:
        """The address of the endpoint, as a client on this machine would write it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - only spelt, not bound
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self.path}"


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and not (url.fragment or url.query)
    except ValueError:  # a bracket without its pair
        return False
