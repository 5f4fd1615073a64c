"""Certificates: the system's, a private authority's; and HTTP/2 where the peer speaks it."""

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived
from mcp_server_core.testing import connect
from mcp_server_fetch.server import build

from .certificates import Authority
from .site import local, serving
from .talk import fetch, refusal

pytestmark = pytest.mark.anyio


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def test_a_private_authority_is_trusted_when_it_is_named(authority: Authority) -> None:
    with serving(tls=authority.context("127.0.0.1")) as site:
        url = site.page("/", "<p>behind a private certificate</p>")
        async with connect(build(local()._replace(ca_file=str(authority.file)))) as client:
            assert "behind a private certificate" in await fetch(client, url)


@pytest.mark.parametrize("ignore_robots_txt", [False, True])
async def test_an_unknown_authority_is_not_trusted_and_the_message_says_what_to_do(
    authority: Authority, ignore_robots_txt: bool
) -> None:
    with serving(tls=authority.context("127.0.0.1")) as site:
        url = site.page("/", "<p>secret</p>")
        # Also where robots.txt is what is asked for first.
        async with connect(build(local()._replace(ignore_robots_txt=ignore_robots_txt))) as client:
            said = await refusal(client, url)
        assert "certificate is not trusted" in said
        assert "--ca-file" in said
        assert site.paths() == []


async def test_a_certificate_for_another_name_is_not_trusted(authority: Authority) -> None:
    with serving(tls=authority.context("other.example")) as site:
        url = site.page("/", "<p>secret</p>")
        settings = local()._replace(ca_file=str(authority.file), ignore_robots_txt=True)
        async with connect(build(settings)) as client:
            assert "certificate is not trusted" in await refusal(client, url)


async def test_the_certificate_is_checked_for_the_name_and_not_for_the_address(authority: Authority) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    with serving(tls=authority.context("wiki.corp.example")) as site:
        site.page("/", "<p>found by name</p>")
        settings = local()._replace(ca_file=str(authority.file), resolver=resolver)
        async with connect(build(settings)) as client:
            assert "found by name" in await fetch(client, f"https://wiki.corp.example:{site.port}/")


def test_a_file_without_certificates_is_refused_at_start(tmp_path: Path) -> None:
    (tmp_path / "x.pem").write_text("nothing")
    for name in ("x.pem", "missing.pem"):
        with pytest.raises(ValueError, match="no readable file of certificates"):
            build(local()._replace(ca_file=str(tmp_path / name)))


class Http2Site:
    """A web server that speaks HTTP/2 and nothing else."""

    def __init__(self, context: ssl.SSLContext, headers: int = 0) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._context = context
        self._headers = headers
        self.connections = 0
        self.requests: list[str] = []
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"

    def run(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self, plain: socket.socket) -> None:
        self.connections += 1
        try:
            with self._context.wrap_socket(plain, server_side=True) as peer:
                self._talk(peer)
        except OSError:
            return

    def _talk(self, peer: ssl.SSLSocket) -> None:
        h2 = H2Connection(H2Configuration(client_side=False))
        h2.initiate_connection()
        peer.sendall(h2.data_to_send())
        while data := peer.recv(65536):
            for event in h2.receive_data(data):
                if isinstance(event, RequestReceived):
                    self._answer(h2, event)
                elif isinstance(event, DataReceived):
                    h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            peer.sendall(h2.data_to_send())

    def _answer(self, h2: H2Connection, request: RequestReceived) -> None:
        named = {bytes(name): bytes(value) for name, value in request.headers or []}
        path = named[b":path"].decode()
        self.requests.append(path)
        status = "404" if path == "/robots.txt" else "200"
        filler = [(f"x-filler-{number}", "a" * 4000) for number in range(self._headers)]
        h2.send_headers(request.stream_id or 0, [(":status", status), ("content-type", "text/html"), *filler])
        h2.send_data(request.stream_id or 0, b"<p>over one connection</p>", end_stream=True)


@contextmanager
def http2(context: ssl.SSLContext, headers: int = 0) -> Generator[Http2Site]:
    site = Http2Site(context, headers)
    thread = threading.Thread(target=site.run, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.close()
        thread.join(5)


async def test_http_2_is_spoken_and_one_connection_serves_all_pages(authority: Authority) -> None:
    with http2(authority.context("127.0.0.1", protocols=["h2"])) as site:
        async with connect(build(local()._replace(ca_file=str(authority.file)))) as client:
            assert "over one connection" in await fetch(client, f"{site.url}/0")
            result = await client.call_tool("fetch_many", {"urls": [f"{site.url}/{n}" for n in range(1, 11)]})
        assert not result.get("isError")
        assert len(site.requests) == 12
        assert site.connections == 1


async def test_huge_headers_over_http_2_are_refused(authority: Authority) -> None:
    with http2(authority.context("127.0.0.1", protocols=["h2"]), headers=40) as site:
        settings = local(total_time=10)._replace(ca_file=str(authority.file), ignore_robots_txt=True)
        async with connect(build(settings)) as client:
            assert "could not be reached" in await refusal(client, f"{site.url}/")


async def test_connections_are_kept_for_the_next_page() -> None:
    with serving() as site:
        peers: set[int] = set()

        def answer(handler: object) -> None:
            from .site import HTML, Handler, reply

            assert isinstance(handler, Handler)
            peers.add(handler.client_address[1])
            reply(b"<p>text</p>", HTML)(handler)

        async with connect(build(local())) as client:
            for number in range(5):
                await fetch(client, site.on(f"/{number}", answer))
        assert len(peers) == 1
