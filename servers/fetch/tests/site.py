"""Web servers for the tests, on loopback addresses: what they answer is said by the test, what they hear is kept."""

import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mcp_server_fetch.settings import Limits, Settings

Answer = Callable[["Handler"], None]
HTML = {"content-type": "text/html; charset=utf-8"}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: "Web"  # pyright: ignore[reportIncompatibleVariableOverride] - it is never another one

    def do_GET(self) -> None:
        with self.server.news:
            self.server.heard.append(
                (self.path, {name.lower(): value for name, value in self.headers.items()})
            )
            self.server.news.notify_all()
        answer = self.server.answers.get(self.path)
        if answer is None:
            reply(b"not here", status=404)(self)
        else:
            answer(self)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Web(ThreadingHTTPServer):
    """A web server and its memory."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, port), Handler)
        self.answers: dict[str, Answer] = {}
        self.heard: list[tuple[str, dict[str, str]]] = []
        self.news = threading.Condition()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # clients that hang up in the middle are what some tests are about


@dataclass
class Site:
    """A running web server, as a test sees it."""

    web: Web
    scheme: str = "http"
    host: str = "127.0.0.1"

    @property
    def port(self) -> int:
        return self.web.server_port

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def on(self, path: str, answer: Answer) -> str:
        """Say what is answered at a path; gives back its URL."""
        self.web.answers[path] = answer
        return self.url + path

    def page(self, path: str, html: str, **headers: str) -> str:
        return self.on(path, reply(html.encode(), {**HTML, **headers}))

    def paths(self) -> list[str]:
        return [path for path, _ in self.web.heard]

    def wait_for(self, path: str) -> None:
        """Block until somebody asked for a path; fails after ten seconds."""
        with self.web.news:
            assert self.web.news.wait_for(lambda: path in self.paths(), 10)

    def wait_for_count(self, path: str, count: int) -> None:
        """Block until a path was asked for so many times."""
        with self.web.news:
            assert self.web.news.wait_for(lambda: self.paths().count(path) >= count, 10)

    def headers(self, path: str) -> list[dict[str, str]]:
        return [headers for heard, headers in self.web.heard if heard == path]


def reply(body: bytes, headers: Mapping[str, str] | None = None, status: int = 200) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in (headers or {"content-type": "text/plain"}).items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def redirect(target: str, status: int = 302) -> Answer:
    return reply(b"", {"location": target}, status)


def raw(pieces: Iterable[bytes] | Callable[[], Iterable[bytes]]) -> Answer:
    """Exactly these bytes, then the connection is closed."""

    def answer(handler: Handler) -> None:
        handler.close_connection = True
        for piece in pieces() if callable(pieces) else pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()

    return answer


def versioned(body: Callable[[], bytes], etag: Callable[[], str]) -> Answer:
    """A page that answers conditional requests."""

    def answer(handler: Handler) -> None:
        current = etag()
        if handler.headers.get("if-none-match") == current:
            handler.send_response(304)
            handler.send_header("etag", current)
            handler.end_headers()
        else:
            reply(body(), {**HTML, "etag": current})(handler)

    return answer


@contextmanager
def serving(host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> Generator[Site]:
    web = Web(host, port)
    if tls is not None:
        web.socket = tls.wrap_socket(web.socket, server_side=True)
    # A short poll: shutting down waits for it.
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Site(web, "http" if tls is None else "https", host)
    finally:
        web.shutdown()
        web.server_close()
        thread.join(5)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def local(**limits: float) -> Settings:
    """Settings for pages on this machine; `limits` replaces some of them."""
    return Settings(allow_private_ips=True, limits=Limits()._replace(**limits))  # pyright: ignore[reportArgumentType] - whole numbers are floats too
