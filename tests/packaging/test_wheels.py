"""What users install: each server built to files, installed from those alone with everything resolved afresh, and used.

No lock file and no workspace take part. The dependencies come from the package index, by name.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from email import message_from_string
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, stdio
from mcp_server_core.cli.documents import show
from mcp_server_core.cli.hosts import HOSTS, Command

ROOT = Path(__file__).parents[2]
SERVERS = sorted(path.name for path in (ROOT / "servers").iterdir() if (path / "pyproject.toml").exists())
LIMIT = 300  # seconds; from a warm cache it takes a few


@pytest.fixture(scope="module")
def uv() -> str:
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        pytest.fail("uv was not found: not in $UV and not on the PATH; `pip install uv` helps")
    return found


@pytest.fixture(scope="module")
def built(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of every package."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [uv, "build", "--quiet", "--all-packages", "--out-dir", str(folder)],
        cwd=ROOT,
        check=True,
        timeout=LIMIT,
    )
    return folder


def wheel(built: Path, server: str) -> Path:
    """A wheel by its path: one found by name would come from uv's cache, built before the last change."""
    (found,) = built.glob(f"mcp_server_{server.replace('-', '_')}-*.whl")
    return found


def metadata(built: Path, server: str) -> Message:
    with zipfile.ZipFile(wheel(built, server)) as files:
        (name,) = [name for name in files.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_string(files.read(name).decode("utf-8"))


def requirements(built: Path, server: str, *extras: str) -> list[str]:
    """What a distribution needs from the package index, with these of its extras."""
    needed: list[str] = []
    for line in metadata(built, server).get_all("Requires-Dist", []):
        requirement, _, marker = line.partition("; ")
        wanted = "extra ==" not in marker or any(f"extra == '{extra}'" in marker for extra in extras)
        if wanted and not requirement.startswith("mcp-server-core"):
            plain = re.sub(r"( and )?extra == '\w+'", "", marker)
            needed.append(f"{requirement}; {plain}" if plain else requirement)
    return needed


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The address of a web page on this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>Birds</h1><p>Three of them.</p>")

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


ARGUMENTS = {
    "filesystem": ["{here}"],
    "fetch": ["--allow-host", "127.0.0.1", "--ignore-robots-txt"],
    "sqlite": ["--db-path", "{here}/birds.db"],
}
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "filesystem": ("list_allowed_directories", {}, "{here}"),
    "fetch": ("fetch", {"url": "{page}"}, "Three of them."),
    "memory": (
        "create_entities",
        {"entities": [{"name": "Ada", "entityType": "person", "observations": []}]},
        "Ada",
    ),
    "sequential-thinking": (
        "sequentialthinking",
        {"thought": "Look", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": False},
        "thinkingId",
    ),
    "sqlite": ("create_table", {"query": "CREATE TABLE birds (name TEXT)"}, "birds"),
}


def quietly(*command: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """What a command prints; it has to succeed."""
    around = None if env is None else {**os.environ, **env}
    done = subprocess.run(
        command, cwd=cwd, env=around, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
@pytest.mark.parametrize("server", SERVERS)
def test_a_built_server_works_with_dependencies_resolved_afresh(
    uv: str, built: Path, server: str, resolution: str, tmp_path: Path, page: str
) -> None:
    """With the newest versions that are allowed, and with each at the lowest one that is declared."""
    direct = [*requirements(built, server), *requirements(built, "core", "http", "hosts")]
    quietly(uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    quietly(
        *(uv, "pip", "install", "--quiet", "--python", tmp_path / "venv", "--resolution", resolution),
        *(wheel(built, server), wheel(built, "core"), *(direct if resolution != "highest" else [])),
    )
    program = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / f"mcp-server-{server}"
    places = {"{here}": str(tmp_path), "{page}": page}
    arguments = [_filled(word, places) for word in ARGUMENTS.get(server, [])]
    environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}

    def run(*words: str) -> str:
        return quietly(program, *words, env=environment, cwd=tmp_path)

    assert run("--help").startswith(f"usage: mcp-server-{server} ")
    # Configuration files that are not JSON have libraries of their own.
    entry = tomllib.loads(run("install", "--host", "codex", "--print"))["mcp_servers"][server]
    assert entry["command"] == str(program)
    assert "\n    cmd: " in run("install", "--host", "goose", "--print")
    assert "All is well." in run("doctor", "--", *arguments, "--transport", "http", "--port", "0")

    async def call() -> None:
        opener = stdio([str(program), *arguments], env=environment, cwd=tmp_path)
        async with Client(opener) as client:
            assert await client.list_tools()
            if server in CALLS:  # a server that `make new` began has tests of its own
                tool, given, expected = CALLS[server]
                given = {key: _filled(value, places) for key, value in given.items()}
                result = await client.call_tool(tool, given)
                assert _filled(expected, places) in result["content"][0]["text"]

    anyio.run(call)


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    for name, place in places.items():
        value = value.replace(name, place) if isinstance(value, str) else value
    return value


def test_a_built_server_runs_by_uvx_which_is_then_what_a_host_starts(
    uv: str, built: Path, tmp_path: Path
) -> None:
    command = [uv, "tool", "run", "--quiet", "--isolated", "--python", sys.executable]
    command += ["--with", wheel(built, "core"), "--from", wheel(built, "filesystem"), "mcp-server-filesystem"]
    assert quietly(*command, "--help", cwd=tmp_path).startswith("usage: mcp-server-filesystem ")
    said = quietly(*command, "install", "--host", "cursor", "--print", "--", "notes", cwd=tmp_path)
    entry = json.loads(said)["mcpServers"]["filesystem"]
    assert (Path(entry["command"]).stem, Path(entry["command"]).is_file()) == ("uvx", True)
    assert entry["args"] == ["mcp-server-filesystem", str(tmp_path / "notes")]


def test_a_tool_that_is_installed_is_started_from_where_it_lies(uv: str, built: Path, tmp_path: Path) -> None:
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    command = [uv, "tool", "install", "--quiet", "--python", sys.executable, "--with", wheel(built, "core")]
    quietly(*command, wheel(built, "memory"), env=places)
    said = quietly(tmp_path / "bin" / "mcp-server-memory", "install", "--host", "cursor", "--print")
    program = Path(json.loads(said)["mcpServers"]["memory"]["command"])
    assert (program.is_file(), program.is_relative_to(tmp_path / "tools")) == (True, True)


def test_what_goose_is_given_is_read_by_a_library_that_did_not_write_it(uv: str, tmp_path: Path) -> None:
    """PyYAML takes words such as `yes` for truth and `0o7` for text, others do not: all must read the same."""
    words = [
        "yes",
        "010",
        "1e3",
        "~",
        "a: b",
        "# no",
        "- x",
        "da ta",
        'q"',
        "$HOME",
        "",
        "ü",
        "2020-01-01",
        "12:30",
    ]
    entry = HOSTS["goose"].entry("any", Command("/usr/bin/uvx", words, {"on": "off", "N": "1"}))
    read = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin.buffer), sys.stdout)"
    command = [uv, "run", "--quiet", "--no-project", "--isolated", "--python", sys.executable]
    done = subprocess.run(
        [*command, "--with", "pyyaml>=6,<7", "python", "-c", read],
        input=show("yaml", "extensions", "no", entry).encode("utf-8"),
        cwd=tmp_path,
        capture_output=True,
        check=True,
        timeout=LIMIT,
    )
    assert json.loads(done.stdout) == {"extensions": {"no": entry}}


@pytest.mark.parametrize("server", SERVERS)
def test_a_wheel_holds_the_server_with_its_types_and_nothing_else(built: Path, server: str) -> None:
    package = f"mcp_server_{server.replace('-', '_')}"
    names = zipfile.ZipFile(wheel(built, server)).namelist()
    assert f"{package}/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {package}


@pytest.mark.parametrize("server", [*SERVERS, "core"])
def test_every_dependency_has_a_lower_and_an_upper_bound(built: Path, server: str) -> None:
    """The next major version of somebody else's package must not end ours: `uvx` resolves afresh every time."""
    for line in metadata(built, server).get_all("Requires-Dist", []):
        requirement = line.partition(";")[0]
        if server == "core" and requirement.startswith("mcp-server-core"):  # an extra that includes another
            continue
        assert re.search(r">=\d", requirement), requirement
        assert re.search(r"<\d", requirement), requirement


@pytest.mark.parametrize("server", SERVERS)
def test_the_description_proves_to_the_registry_whose_package_it_is(built: Path, server: str) -> None:
    described = metadata(built, server)
    name = json.loads((ROOT / "servers" / server / "server.json").read_text(encoding="utf-8"))["name"]
    assert described["Description-Content-Type"] == "text/markdown"
    assert f"<!-- mcp-name: {name} -->" in described.get_payload()


@pytest.mark.parametrize("server", SERVERS)
def test_a_source_distribution_holds_the_tests_that_travel_with_it(built: Path, server: str) -> None:
    (archive,) = built.glob(f"mcp_server_{server.replace('-', '_')}-*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"README.md", "pyproject.toml", "tests"} <= {name.split("/")[0] for name in names}
