"""Through a proxy: a real one, where it is installed, and small ones that show what passes."""

import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from mcp_server_core.testing import connect
from mcp_server_fetch.server import build
from mcp_server_fetch.settings import Settings

from .certificates import Authority
from .site import HTML, Handler, Site, free_port, local, reply, serving
from .talk import fetch, refusal

pytestmark = pytest.mark.anyio


@contextmanager
def tinyproxy(folder: Path) -> Generator[int]:
    """Debian's tinyproxy on a free port."""
    port = free_port()
    log, config = folder / "proxy.log", folder / "tinyproxy.conf"
    config.write_text(
        f'Port {port}\nListen 127.0.0.1\nTimeout 30\nLogFile "{log}"\nLogLevel Connect\nMaxClients 20\nAllow 127.0.0.1\n'
    )
    program = shutil.which("tinyproxy")
    assert program is not None
    process = subprocess.Popen(
        [program, "-d", "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_open(port)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_open(port: int) -> None:
    deadline = monotonic() + 10
    while monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.05)
    pytest.fail("the proxy did not start")


needs_tinyproxy = pytest.mark.skipif(shutil.which("tinyproxy") is None, reason="tinyproxy is not installed")


@needs_tinyproxy
@pytest.mark.parametrize("named_by", ["option", "environment"])
async def test_pages_come_through_a_real_proxy(
    tmp_path: Path, site: Site, named_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    site.page("/", "<p>plain page through the proxy</p>")
    with tinyproxy(tmp_path) as port, serving(tls=authority.context("127.0.0.1")) as secure:
        secure.page("/", "<p>secure page through the proxy</p>")
        settings = local()._replace(ca_file=str(authority.file))
        if named_by == "option":
            settings = settings._replace(proxy_url=f"http://127.0.0.1:{port}")
        else:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        async with connect(build(settings)) as client:
            assert "plain page through" in await fetch(client, f"{site.url}/")
            assert "secure page through" in await fetch(client, f"{secure.url}/")
        heard = (tmp_path / "proxy.log").read_text()
        assert f"GET {site.url}/" in heard
        assert f"CONNECT 127.0.0.1:{secure.port}" in heard
        assert "via" in site.headers("/")[0]


@needs_tinyproxy
async def test_a_proxy_is_no_way_around_the_guard(tmp_path: Path, site: Site) -> None:
    site.page("/", "<p>secret</p>")
    with tinyproxy(tmp_path) as port:
        settings = Settings(proxy_url=f"http://127.0.0.1:{port}", ignore_robots_txt=True)
        async with connect(build(settings)) as client:
            for host in ("127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"):
                assert "does not fetch from" in await refusal(client, f"http://{host}:{site.port}/")
    assert site.paths() == []


async def test_a_name_that_only_the_proxy_knows_is_left_to_the_proxy(site: Site) -> None:
    async def nobody(host: str, port: int) -> list[str]:
        raise OSError("unknown here")

    def proxied(handler: Handler) -> None:
        reply(b"<p>looked up by the proxy</p>", HTML)(handler)

    site.web.answers["http://intranet.corp/page"] = proxied
    settings = Settings(proxy_url=site.url, resolver=nobody, ignore_robots_txt=True)
    async with connect(build(settings)) as client:
        assert "looked up by the proxy" in await fetch(client, "http://intranet.corp/page")


async def test_hosts_in_no_proxy_are_reached_directly(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    url = site.page("/", "<p>reached directly</p>")
    async with connect(build(local()._replace(proxy_url=f"http://127.0.0.1:{free_port()}"))) as client:
        assert "reached directly" in await fetch(client, url)


async def test_the_password_of_a_proxy_is_sent_to_it_and_shown_to_nobody(site: Site) -> None:
    def refuse(handler: Handler) -> None:
        reply(b"", {"proxy-authenticate": "Basic"}, 407)(handler)

    site.web.answers["http://1.1.1.1/"] = refuse
    proxy = site.url.replace("http://", "http://me:hunter2@")
    async with connect(build(Settings(proxy_url=proxy, ignore_robots_txt=True))) as client:
        said = await refusal(client, "http://1.1.1.1/")
    assert "hunter2" not in said
    assert site.web.heard[0][1]["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize("ignore_robots_txt", [False, True])
async def test_a_proxy_that_is_down_is_named_as_the_problem(ignore_robots_txt: bool) -> None:
    proxy = f"http://me:secret@127.0.0.1:{free_port()}"
    async with connect(build(Settings(proxy_url=proxy, ignore_robots_txt=ignore_robots_txt))) as client:
        said = await refusal(client, "http://1.1.1.1/")
    assert said == "The proxy does not lead to http://1.1.1.1: it takes no connection."


@pytest.mark.parametrize("url", ["ftp://x:1", "nonsense://", "http://", "http://host:port"])
def test_an_address_that_is_no_proxy_is_refused_at_start(url: str) -> None:
    with pytest.raises(ValueError, match="proxy"):
        build(Settings(proxy_url=url))


async def test_a_wrong_proxy_variable_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "ftp://me:hunter2@x:1")
    async with connect(build()) as client:
        said = await refusal(client, "https://example.org/")
    assert "proxy variables" in said
    assert "hunter2" not in said


def _serve_socks(listener: socket.socket, asked: list[str]) -> None:
    """A SOCKS5 proxy for one connection, without any choice of methods."""
    peer, _ = listener.accept()
    with peer:
        _, count = peer.recv(2)
        peer.recv(count)
        peer.sendall(b"\x05\x00")
        _, _, _, kind = peer.recv(4)
        host = socket.inet_ntoa(peer.recv(4)) if kind == 1 else peer.recv(peer.recv(1)[0]).decode()
        (port,) = struct.unpack(">H", peer.recv(2))
        asked.append(f"{host}:{port}")
        with socket.create_connection((host, port)) as target:
            peer.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
            back = threading.Thread(target=_pour, args=(target, peer), daemon=True)
            back.start()
            _pour(peer, target)
            back.join(5)


def _pour(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


@pytest.mark.parametrize("scheme", ["socks5", "socks"])
async def test_pages_come_through_a_socks_proxy(site: Site, scheme: str) -> None:
    url = site.page("/", "<p>through the sock</p>")
    asked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve_socks, args=(listener, asked), daemon=True)
        thread.start()
        proxy = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        async with connect(build(local()._replace(proxy_url=proxy, ignore_robots_txt=True))) as client:
            assert "through the sock" in await fetch(client, url)
        thread.join(5)
    assert asked == [f"127.0.0.1:{site.port}"]
