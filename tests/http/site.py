"""Two replicas behind a real nginx, with the configuration that docs/operations.md shows."""

import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ..smoke.process import Process
from .process import Response, Wire, http, tool_call

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "interop" / "server.py"
NAME = "mcp.example.com"
KEY = "2026a:what-all-replicas-know"
SERVED_BY = "x-served-by"
_AROUND = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr notice;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/answers;
    add_header X-Served-By $upstream_addr always;
{snippet}
}}
"""


class Replica(NamedTuple):
    """One server process and its own port."""

    process: Process
    port: int

    @property
    def address(self) -> str:
        """As nginx names it."""
        return f"127.0.0.1:{self.port}"

    def call(self, tool: str, **arguments: object) -> str:
        """Call a tool of this very replica, past the proxy."""
        with Wire(self.port) as wire:
            answer = wire.send(http(*tool_call(tool, **arguments))).read()
        return answer.json()["result"]["content"][0]["text"]


class Site(NamedTuple):
    """What clients see, and what stands behind it."""

    port: int
    replicas: list[Replica]

    def connect(self) -> Wire:
        """A new connection to the proxy."""
        return Wire(self.port)

    def call(self, tool: str, **arguments: object) -> Response:
        """Call a tool of whichever replica has its turn."""
        with self.connect() as wire:
            return wire.send(http(*tool_call(tool, **arguments), host=NAME)).read()

    def behind(self, response: Response) -> Replica:
        """The replica that answered; the last one, if nginx tried several."""
        address = response.fields[SERVED_BY].split(", ")[-1]
        return next(replica for replica in self.replicas if replica.address == address)


def find_nginx() -> str:
    """Where nginx is. On a developer's machine it may be missing."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is not None:
        return found
    if os.environ.get("CI"):
        pytest.fail("nginx is not installed, and here it has to be")
    pytest.skip("nginx is not installed")


def documented_config() -> str:
    """The configuration in the guide."""
    guide = (ROOT / "docs" / "operations.md").read_text("utf-8")
    (snippet,) = re.findall(r"```nginx\n(.*?)```", guide, re.DOTALL)
    return snippet


@contextmanager
def running_site(folder: Path) -> Generator[Site]:
    """Start it all; leaving ends it all."""
    nginx = find_nginx()
    port, *ports = free_ports(3)
    with ExitStack() as stack:
        replicas = [Replica(stack.enter_context(_replica(port)), port) for port in ports]
        for replica in replicas:
            replica.process.hear("serves MCP at ")
        config = folder / "nginx.conf"
        config.write_text(_config(folder, port, ports), "utf-8")
        proxy = stack.enter_context(Process([nginx, "-p", str(folder), "-e", "stderr", "-c", str(config)]))
        proxy.hear("start worker process ")
        stack.callback(_stop, proxy)
        yield Site(port, replicas)


def _replica(port: int) -> Process:
    options = ["--transport", "http", "--port", str(port), "--public-url", f"https://{NAME}/mcp"]
    return Process([sys.executable, str(SERVER), *options], env={"MCP_STATE_KEY": KEY})


def _config(folder: Path, port: int, ports: list[int]) -> str:
    snippet = documented_config()
    places = {"listen 80;": f"listen 127.0.0.1:{port};"}
    places |= {f"127.0.0.1:800{number}": f"127.0.0.1:{port}" for number, port in enumerate(ports, 1)}
    for shown, real in places.items():
        assert snippet.count(shown) == 1, f"the guide does not say {shown} once"
        snippet = snippet.replace(shown, real)
    # Started by root it would give up its rights, and with them the temporary folder.
    user = "user root;" if os.geteuid() == 0 else ""
    return _AROUND.format(folder=folder, user=user, snippet=snippet)


def _stop(proxy: Process) -> None:
    proxy.kill(signal.SIGTERM)
    proxy.wait()


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on now."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [probe.getsockname()[1] for probe in probes]
