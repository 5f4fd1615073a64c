"""Clients that nobody here wrote, with the fetch server: tools, prompt, resources, and a page that changes."""

import sys
import threading
from collections.abc import Generator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from .errand import (
    ERRAND_CLIENTS,
    Answers,
    call,
    complete,
    every_errand_client,
    list_all,
    prompt,
    read,
    run_errand,
    run_program,
    watch,
)
from .foreign import Foreign

SERVER = [sys.executable, "-m", "mcp_server_fetch", "--allow-private-ips", "--watch-interval", "0.2"]
LONG = "<main><h1>Long</h1>" + "<h2>Part</h2><p>Some words of a long page.</p>" * 400 + "</main>"


class Site(ThreadingHTTPServer):
    """Two pages: a long one, and one that is read from a file each time."""

    daemon_threads = True

    def __init__(self, file: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.file = file

    def page(self, path: str) -> bytes | None:
        return {"/long": LONG.encode(), "/changing": self.file.read_bytes()}.get(path)


class Handler(BaseHTTPRequestHandler):
    """Answers with a version, and with 304 where that is the client's."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Site)
        body = self.server.page(self.path)
        etag = f'"{sha256(body or b"").hexdigest()}"'
        known = body is not None and self.headers.get("if-none-match") == etag
        self.send_response(404 if body is None else 304 if known else 200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("etag", etag)
        if not known:
            self.send_header("content-length", str(len(body or b"")))
        self.end_headers()
        if not known:
            self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.html"
    file.write_text("<title>News</title><p>The first version of the page.</p>", "utf-8")
    return file


@pytest.fixture
def site(page: Path) -> Generator[str]:
    server = Site(page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@every_errand_client
def test_a_client_fetches_reads_and_watches(foreign: Foreign, tmp_path: Path, page: Path, site: str) -> None:
    rewrite = f"open({str(page)!r}, 'w').write('<title>News</title><p>The second version of the page.</p>')"
    steps = [
        list_all("tools"),
        list_all("templates"),
        call("fetch", url=f"{site}/changing"),
        call("fetch", url=f"{site}/long", max_length=1000),
        call("fetch", url=f"{site}/long", start_index=5000),
        call("fetch_many", urls=[f"{site}/changing", f"{site}/missing"]),
        prompt("fetch", url=f"{site}/changing"),
        read(f"{site}/changing"),
        complete("http://{+page}", "page", "127"),
        watch(f"{site}/changing", run_program([sys.executable, "-c", rewrite])),
        read(f"{site}/changing"),
        call("fetch", url="http://169.254.169.254/latest/meta-data/"),
    ]
    seen = run_errand(foreign, SERVER, steps, tmp_path)
    assert seen.revision == foreign.revision
    assert [tool["name"] for tool in seen.results[0]["tools"]] == ["fetch", "fetch_many"]
    assert len(seen.results[1]["resourceTemplates"]) == 2
    assert "The first version of the page." in seen.text(2)
    assert "go on with start_index=" in seen.text(3)
    assert "from the copy kept then" in seen.text(4)
    assert [
        ("first version" in block["text"], "answered 404" in block["text"])
        for block in seen.results[5]["content"]
    ] == [
        (True, False),
        (False, True),
    ]
    assert "first version" in seen.results[6]["messages"][0]["content"]["text"]
    assert "first version" in seen.results[7]["contents"][0]["text"]
    assert f"{site}/changing".removeprefix("http://") in seen.results[8]["completion"]["values"]
    assert seen.results[9] == [f"{site}/changing"]
    assert "second version" in seen.results[10]["contents"][0]["text"]
    assert "cloud metadata" in seen.text(11)


# The official Python client takes no root but a file's.
@pytest.mark.parametrize("foreign", [one for one in ERRAND_CLIENTS if one.runs_on == "node"], ids=str)
def test_a_client_is_kept_to_its_roots_on_the_web(foreign: Foreign, tmp_path: Path, site: str) -> None:
    steps = [call("fetch", url=f"{site}/changing"), call("fetch", url=f"{site}/long")]
    seen = run_errand(foreign, SERVER, steps, tmp_path, Answers(roots=[f"{site}/changing"]))
    assert "first version" in seen.text(0)
    assert "outside the places the client allows" in seen.text(1)
