"""One errand for each of the five servers: how it is started, and what is asked of it. Two clients run them:
`all_five.py` is ours, `official_sdk.py` is somebody else's.
"""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple


class Errand(NamedTuple):
    """A server's own arguments, and one call of a tool."""

    server: str
    arguments: list[str]
    tool: str
    given: dict[str, Any]

    @property
    def command(self) -> list[str]:
        """As a host would start it; installed, it would be `uvx mcp-server-NAME` instead."""
        return [sys.executable, "-m", f"mcp_server_{self.server.replace('-', '_')}", *self.arguments]


@contextmanager
def errands() -> Generator[list[Errand]]:
    """The five, with a folder that is gone afterwards, and a web page on this machine."""
    with TemporaryDirectory() as name, web_site(Path(name)) as address:
        folder = Path(name).resolve()
        (folder / "birds.html").write_text("<h1>Birds</h1><p>Three tits and a wren.</p>", encoding="utf-8")
        person = {"name": "Ada", "entityType": "person", "observations": ["counts birds"]}
        thought = {
            "thought": "Which bird?",
            "thoughtNumber": 1,
            "totalThoughts": 2,
            "nextThoughtNeeded": True,
        }
        yield [
            Errand("filesystem", [str(folder)], "read_text_file", {"path": "birds.html"}),
            Errand("fetch", ["--allow-host", "127.0.0.1"], "fetch", {"url": f"{address}/birds.html"}),
            Errand(
                "memory", ["--store", str(folder / "memory.db")], "create_entities", {"entities": [person]}
            ),
            Errand("sequential-thinking", [], "sequentialthinking", thought),
            Errand(
                "sqlite",
                ["--db-path", str(folder / "birds.db")],
                "read_query",
                {"query": "SELECT 3 + 1 AS birds"},
            ),
        ]


@contextmanager
def web_site(folder: Path) -> Generator[str]:
    """The address of a web server for what is in a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of each request."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""
