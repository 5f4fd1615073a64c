"""The server as a process: what it leaves behind, what its tools change, what its list of tools costs."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import anyio
import anyio.to_thread
import pytest
from mcp_server_core import Client, stdio
from mcp_server_core.testing import connect
from mcp_server_fetch.server import build
from mcp_server_fetch.settings import Limits

from .site import Site, local
from .talk import fetch

pytestmark = pytest.mark.anyio
SERVER = [sys.executable, "-m", "mcp_server_fetch", "--allow-private-ips"]
README = Path(__file__).parent.parent / "README.md"
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


def workers_of(parent: int) -> list[int]:
    """The converting processes that a server has started."""
    return [pid for pid, ppid, line in _processes() if ppid == parent and "mcp_server_fetch.worker" in line]


def _processes() -> Iterator[tuple[int, int, str]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if stat[0] != "Z":
                yield int(entry.name), int(stat[1]), command


def alive(pid: int) -> bool:
    return any(pid == known for known, _, _ in _processes())


def start(site: Site) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A server that has converted a page, and its converting processes."""
    process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    call = {"name": "fetch", "arguments": {"url": site.page("/", "<p>text</p>")}}
    for message in (
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
    while b'"id":2' not in process.stdout.readline():
        pass
    return process, workers_of(process.pid)


def end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()


@linux
@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGKILL"])
def test_converting_processes_end_with_the_server(site: Site, how: str) -> None:
    process, workers = start(site)
    assert workers
    if how == "end of input":
        end(process)
    else:
        process.send_signal(getattr(signal, how))
    process.wait(5)
    if how != "end of input":
        end(process)
    deadline = monotonic() + 5
    while any(alive(pid) for pid in workers) and monotonic() < deadline:
        sleep(0.02)
    assert not [pid for pid in workers if alive(pid)]


@linux
def test_a_converter_ends_itself_at_its_deadline_whoever_lives(tmp_path: Path) -> None:
    # The parent is gone without closing anything, and the page would take minutes.
    import struct

    worker = subprocess.Popen(
        [sys.executable, "-m", "mcp_server_fetch.worker", "0.1", str(2**31)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    job = json.dumps({"kind": "html", "format": "markdown", "url": "http://x/", "charset": None}).encode()
    data = b"<p>word <b>word</b></p>" * 1_000_000
    worker.stdin.write(struct.pack(">II", len(job), len(data)) + job + data)
    worker.stdin.flush()
    assert worker.wait(20) != 0
    worker.stdin.close()
    worker.stdout.close()


def names_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_the_tools_change_nothing_on_this_machine(site: Site, tmp_path: Path) -> None:
    url = site.page("/", "<p>text</p>")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    before = names_in(tmp_path)
    async with Client(stdio(SERVER, env=environment, cwd=str(tmp_path))) as client:
        hints = {tool["name"]: tool["annotations"] for tool in await client.list_tools()}
        first = await fetch(client, url)
        second = await fetch(client, url)
        await client.call_tool("fetch_many", {"urls": [url]})
    assert names_in(tmp_path) == before
    assert re.sub("[0-9a-f]{8}|[0-9:]{8}Z", "", first) == re.sub("[0-9a-f]{8}|[0-9:]{8}Z", "", second)
    for hint in hints.values():
        assert hint == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        }


async def test_no_tool_sends_anything_but_get(site: Site) -> None:
    url = site.page("/", "<p>text</p>")
    async with connect(build(local())) as client:
        await fetch(client, url)
    # The test server knows GET alone and would have answered 501.
    assert site.paths() == ["/robots.txt", "/"]


async def test_the_list_of_tools_is_as_small_as_the_readme_says() -> None:
    async with connect(build()) as client:
        size = len(
            json.dumps(
                {"tools": await client.list_tools()}, separators=(",", ":"), ensure_ascii=False
            ).encode()
        )
    assert size <= 2400
    assert f"{size:,} bytes" in README.read_text(encoding="utf-8")


def test_the_limits_in_the_readme_are_those_in_force() -> None:
    text = README.read_text(encoding="utf-8")
    limits = Limits()
    mib = 1024 * 1024
    for row in (
        f"| time for a page, all redirects and robots.txt included | {limits.total_time:g} s (`--timeout`) |",
        f"| time to connect; silence between two pieces | {limits.connect_time:g} s; {limits.read_time:g} s |",
        f"| body as it comes; unpacked | {limits.wire_bytes // mib} MiB; {limits.body_bytes // mib} MiB |",
        f"| redirects | {limits.redirects} |",
        f"| converting a page | {limits.convert_time:g} s, {limits.convert_bytes // mib:,} MiB, {limits.converters} at once |",
        f"| image shown | {limits.image_bytes // mib} MiB |",
        f"| pages downloaded at once | {limits.pages_at_once} |",
        f"| copies kept | {limits.cached_pages} pages, {limits.cached_bytes // mib} MiB, {limits.cached_age / 60:g} minutes |",
        f"| robots.txt | {limits.robots_bytes // 1024} KiB, {limits.robots_time:g} s, {limits.robots_redirects} redirects; kept {limits.robots_age / 60:g} minutes, a failure {limits.robots_failure_age:g} s |",
        f"| watched pages; looks at one | {limits.watched_pages}; every {limits.watch_interval:g} s (`--watch-interval`), less often if the page asks for it |",
    ):
        assert row in text, row


@pytest.mark.parametrize(
    "arguments",
    [
        ["--allow-host", "http://x/"],
        ["--proxy-url", "ftp://x"],
        ["--ca-file", "/nonexistent"],
        ["--timeout", "0"],
        ["--timeout", "x"],
    ],
    ids=" ".join,
)
def test_an_option_that_makes_no_sense_is_refused_at_start(arguments: list[str]) -> None:
    done = subprocess.run(
        [*SERVER, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "error:" in done.stderr
    assert "Traceback" not in done.stderr


def wait_for_no_workers() -> None:
    deadline = monotonic() + 10
    while workers_of(os.getpid()) and monotonic() < deadline:
        sleep(0.02)
    assert not workers_of(os.getpid())


@linux
async def test_idle_converters_are_ended(site: Site) -> None:
    url = site.page("/", "<p>text</p>")
    async with connect(build(local(converter_idle=0.2))) as client:
        await fetch(client, url)
        await anyio.to_thread.run_sync(wait_for_no_workers)
        assert "text" in await fetch(client, url)
