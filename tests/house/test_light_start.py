"""What a server loads before it answers `initialize`. A host starts every server it knows at once, and waits.

A list does not flicker, a clock does. The wire and standard error are one pipe here: what stands in it before the
answer was loaded before the answer, whatever is warmed up afterwards.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INTEROP = HERE.parent / "interop" / "server.py"
MINIMAL = '''
from mcp_server_core import Arg, Context, Registry, Server, ToolError, cli

part = Registry()

@part.tool("Echo", read_only=True, open_world=False)
async def echo(text: str, ctx: Context[None]) -> str:
    """Say the text again."""
    return text

cli.serve(Server("minimal", version="1.0", parts=[part]))
'''
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

PACKAGES = {"anyio", "mcp_server_core", "msgspec", "sniffio", "typing_extensions"}
MODULES = {
    "budgets",
    "channel",
    "cli",
    "cli.options",
    "cli.serving",
    "errors",
    "protocol",
    "protocol.codec",
    "protocol.cursors",
    "protocol.encode",
    "protocol.handshake",
    "protocol.lines",
    "protocol.messages",
    "protocol.profile",
    "protocol.revisions",
    "protocol.scope",
    "protocol.session",
    "protocol.stateless",
    "protocol.uri_match",
    "protocol.uri_syntax",
    "protocol.uris",
    "server",
    "server.access",
    "server.app",
    "server.arguments",
    "server.calling",
    "server.catalogue",
    "server.complete",
    "server.connection",
    "server.content",
    "server.context",
    "server.dispatch",
    "server.outbox",
    "server.prompts",
    "server.registry",
    "server.resources",
    "server.subscriptions",
    "server.threads",
    "server.tools",
    "transports",
    "transports.lifeline",
    "transports.pipes",
    "transports.readers",
    "transports.stdio",
}
# A server that asks its users something has these besides.
ASKING = {"server.asking"}
HEAVY = {
    # Comes with the first list or call.
    *("pydantic", "pydantic_core", "annotated_types", "mcp_server_core.server.signature"),
    # Comes with the first question that is sealed.
    *("hashlib", "hmac", "mcp_server_core.protocol.sealing"),
    # Come with the servers that need them, when they need them.
    *(
        "aiosqlite",
        "sqlite3",
        "bs4",
        "lxml",
        "html5lib",
        "markdownify",
        "watchfiles",
        "mcp_server_core.places",
    ),
    *("httpx", "httpcore", "h11", "starlette", "uvicorn", "certifi", "idna"),
    # Not for a server at all.
    *("mcp", "mcp_types", "fastmcp", "trio", "mcp_server_core.client", "mcp_server_core.testing"),
    # Slow parts of the standard library.
    *(
        "ctypes",
        "email",
        "html",
        "http",
        "importlib.metadata",
        "importlib.resources",
        "json",
        "multiprocessing",
    ),
    *(
        "pathlib",
        "pickle",
        "random",
        "secrets",
        "shutil",
        "statistics",
        "tempfile",
        "unittest",
        "urllib",
        "xml",
    ),
    *("zipfile", "pkgutil", "pprint", "difflib", "doctest", "pdb", "csv", "configparser", "tomllib"),
}
# Heavy, and unavoidable: asyncio brings them. Nobody else may.
ONLY_BY_ASYNCIO = {"ssl", "subprocess", "socket"}


@pytest.fixture(scope="module", params=["minimal", "everything"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def loaded(kind: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The modules a server loads before its first answer, each with the lines that led to it."""
    program = INTEROP
    if kind == "minimal":
        program = tmp_path_factory.mktemp("light") / "minimal.py"
        program.write_text(MINIMAL)
    return modules_before_answer(program)


def modules_before_answer(program: Path) -> dict[str, str]:
    # A debugger's or a coverage tool's own modules are not the server's.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHONDEV"))
    }
    argv = [sys.executable, str(HERE / "recorder.py"), str(program)]
    done = subprocess.run(
        argv,
        input=json.dumps(INITIALIZE).encode() + b"\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        timeout=30,
        check=True,
    )
    before, answer, _ = done.stdout.decode().partition('{"jsonrpc"')
    assert answer, before
    found: dict[str, str] = {}
    for line in before.splitlines():
        word, name, where = line.split(" ", 2)
        assert word == "loads", line
        found.setdefault(name, where)
    return found


def none_of(names: set[str], loaded: dict[str, str]) -> None:
    """Fail with what came new and from where."""
    new = [f"{name} came new, from {loaded[name]}" for name in loaded if name in names]
    assert not new, "\n".join(new)


def test_the_recorder_sees_what_is_loaded(loaded: dict[str, str]) -> None:
    assert {"asyncio", "anyio", "msgspec", "mcp_server_core.server.app"} <= loaded.keys()


def test_the_recorder_says_by_whom(loaded: dict[str, str]) -> None:
    assert "protocol/codec.py" in loaded["msgspec"]


def test_only_known_packages_are_loaded(loaded: dict[str, str]) -> None:
    foreign = {
        name
        for name in loaded
        if (top := name.partition(".")[0]) not in sys.stdlib_module_names and top not in PACKAGES
    }
    # Some are only tried, as `org.python` by `copy`: they are not there.
    none_of({name for name in foreign if find_spec(name.partition(".")[0])}, loaded)


def test_only_known_modules_of_the_core_are_loaded(loaded: dict[str, str], kind: str) -> None:
    known = MODULES | (ASKING if kind == "everything" else set())
    own = {name for name in loaded if name.startswith("mcp_server_core.")}
    none_of(own - {f"mcp_server_core.{name}" for name in known}, loaded)


def test_nothing_heavy_is_loaded(loaded: dict[str, str]) -> None:
    heavy = {name for name in loaded if any(name == part or name.startswith(f"{part}.") for part in HEAVY)}
    none_of(heavy, loaded)


def test_what_only_asyncio_may_load_is_loaded_by_asyncio(loaded: dict[str, str]) -> None:
    early = {
        name
        for name in ONLY_BY_ASYNCIO & loaded.keys()
        if "/asyncio/" not in loaded[name].partition(" < ")[0]
    }
    none_of(early, loaded)


def test_every_module_on_the_list_is_still_loaded(loaded: dict[str, str]) -> None:
    assert {f"mcp_server_core.{name}" for name in MODULES} <= loaded.keys()
