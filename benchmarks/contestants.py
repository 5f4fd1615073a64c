"""Who takes part: the one table of servers and pinned versions."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HERE = Path(__file__).parent
SOURCES = HERE / "peers_src"
FASTMCP = "fastmcp==4.1.2"
FASTMCP_REMARK = (
    "4.1.2, not the newest 4.1.4: 4.1.3 and later ask for certifi>=2026.10.19, "
    "which could not be had when this was pinned"
)
UVICORN = ("uvicorn==0.54.0", "httptools==0.9.0", "uvloop==0.23.0")
EVERYTHING = "@modelcontextprotocol/server-everything"


def _workspace_python() -> str:
    """The interpreter that has our packages: the workspace's own, else the one that runs this."""
    own = HERE.parent / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


PYTHON = _workspace_python()


@dataclass(frozen=True, slots=True)
class Contestant:
    """One echo server: how it is named, what it needs installed, what its echo looks like."""

    key: str
    title: str
    runtime: Literal["here", "python", "node"]  # "here" runs in the workspace and needs no install
    script: Path | str  # a path in this folder, or a module path inside node_modules
    packages: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    argument: str = "text"
    prefix: str = ""
    watched: tuple[str, ...] | None = None  # what to add for a resource that changes; None: it has none
    remark: str = ""

    def arguments(self, text: str) -> dict[str, str]:
        return {self.argument: text}


STDIO = (
    Contestant("ours", "ours", "here", HERE / "servers" / "ours.py"),
    Contestant("floor", "floor", "here", HERE / "servers" / "floor.py"),
    Contestant("mcp-low", "mcp low", "python", SOURCES / "mcp_low.py.txt", ("mcp==2.3.0",)),
    Contestant("mcp-high", "mcp high", "python", SOURCES / "mcp_high.py.txt", ("mcp==2.3.0",)),
    Contestant(
        "fastmcp",
        "fastmcp",
        "python",
        SOURCES / "fastmcp.py.txt",
        (FASTMCP,),
        remark=FASTMCP_REMARK,
    ),
    Contestant(
        "ts1", "ts 1.x", "node", SOURCES / "ts1.mjs", ("@modelcontextprotocol/sdk@1.32.2", "zod@4.6.7")
    ),
    Contestant(
        "ts2", "ts 2.x", "node", SOURCES / "ts2.mjs", ("@modelcontextprotocol/server@2.4.0", "zod@4.6.7")
    ),
    Contestant(
        "everything",
        "everything",
        "node",
        f"{EVERYTHING}/dist/index.js",
        (f"{EVERYTHING}@2026.8.31",),
        options=("stdio",),
        argument="message",
        prefix="Echo: ",
        remark="registers and lists 13 tools, the others one",
    ),
)

HTTP = (
    Contestant(
        "ours",
        "ours",
        "here",
        HERE / "servers" / "ours_http.py",
        options=("--transport", "http", "--port", "0"),
        watched=("--watch",),
    ),
    Contestant("floor", "floor", "here", HERE / "servers" / "floor_http.py"),
    *(
        Contestant(
            f"mcp-{level}{'-sse' if form else ''}",
            f"mcp {level}, {'SSE' if form else 'JSON'}",
            "python",
            SOURCES / f"mcp_{level}_http.py.txt",
            ("mcp==2.3.0", *UVICORN),
            options=form,
            watched=("watch",),
        )
        for level in ("low", "high")
        for form in ((), ("sse",))
    ),
    Contestant(
        "fastmcp",
        "fastmcp",
        "python",
        SOURCES / "fastmcp_http.py.txt",
        (FASTMCP, *UVICORN),
        remark=FASTMCP_REMARK,
    ),
    Contestant(
        "ts1", "ts 1.x", "node", SOURCES / "ts1_http.mjs", ("@modelcontextprotocol/sdk@1.32.2", "zod@4.6.7")
    ),
    Contestant(
        "ts2",
        "ts 2.x",
        "node",
        SOURCES / "ts2_http.mjs",
        ("@modelcontextprotocol/server@2.4.0", "@modelcontextprotocol/node@2.1.2", "zod@4.6.7"),
        watched=("watch",),
    ),
)
