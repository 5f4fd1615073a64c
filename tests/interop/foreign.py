"""Clients that nobody here wrote: where their environments come from, and how they are run."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, Literal, NamedTuple, TypeAlias

import pytest

HERE = Path(__file__).parent
CLIENTS = HERE / "clients"
INSTALLING = 300  # seconds; from a warm cache it takes a few
TOURING = 60
STOPPING = 20  # twice what calls in flight are given
OLDEST_NODE = 20  # what the TypeScript client asks for
SERVER = [sys.executable, str(HERE / "server.py")]

Transport: TypeAlias = Literal["stdio", "http", "sse"]
"""Pipes, streamable HTTP, or the pair of endpoints that begins at `/sse`."""


@dataclass(frozen=True)
class Foreign:
    """A client that nobody here wrote: which program it is, and what it cannot do."""

    name: str
    runs_on: Literal["this python", "its own python", "node"]
    script: str
    revision: str
    """The newest one it speaks in this mode."""
    mode: str | None = None
    transports: tuple[Transport, ...] = ("stdio", "http")
    """What it can connect over."""
    over: Transport = "stdio"
    """What it connects over this time."""
    lacks: frozenset[str] = frozenset()
    missing_resource: int = -32002
    """The code it shows for a resource that is not there."""
    probes_apart: bool = False
    """Over stdio it asks `server/discover` of a process of its own, and ends that one by a signal."""

    def __str__(self) -> str:
        return f"{self.name}-{self.over}"


@dataclass(frozen=True)
class Tour:
    """What became of a client's tour through the fixture server."""

    saw: dict[str, Any]
    code: int | None
    stderr: str
    servers: list[dict[str, Any]]
    """How each server process ended."""

    def __getitem__(self, step: str) -> Any:
        if step not in self.saw:
            pytest.fail(f"the client never got as far as {step!r}; it said:\n{self.stderr}")
        return self.saw[step]

    def result(self, step: str) -> Any:
        """The result of a step without what only the stateless revision adds to every result."""
        envelope = ("resultType", "ttlMs", "cacheScope", "_meta")
        return {name: value for name, value in self[step].items() if name not in envelope}


def take_tour(foreign: Foreign, folder: Path) -> Tour:
    """Send a client through the fixture server. Server processes leave their records in the folder."""
    interpreter = find_interpreter(foreign)
    if isinstance(interpreter, Ended):
        return Tour({}, interpreter.code, interpreter.stderr, [])
    mode = [] if foreign.mode is None else [foreign.mode]
    limit = TOURING + INSTALLING if foreign.runs_on == "its own python" else TOURING  # uv installs as it runs
    command = [*interpreter, str(CLIENTS / foreign.script), *mode]
    if foreign.over == "stdio":
        ended = run([*command, sys.executable, str(HERE / "witness.py"), str(folder), *SERVER], limit)
    else:
        with serving(folder) as endpoint:
            url = endpoint if foreign.over == "http" else endpoint.replace("/mcp", "/sse")
            ended = run([*command, url], limit)
    try:
        saw = json.loads(ended.stdout)
    except ValueError:
        return Tour(
            {}, ended.code, f"{ended.stderr}\nand this, which is not one JSON document: {ended.stdout}", []
        )
    records = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return Tour(saw, ended.code, ended.stderr, records)


@contextmanager
def serving(folder: Path, server_command: Sequence[str] = SERVER) -> Generator[str]:
    """Run a server over HTTP for one client; then stop it and write down how it ended."""
    command = [*server_command, "--transport", "http", "--port", "0"]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None, "it was asked for"
    try:
        announced = server.stderr.readline()
        if " serves MCP at " not in announced:
            pytest.fail(f"the server did not start: {announced}{server.stderr.read()}")
        yield announced.split()[-1]
        server.terminate()
        _, stderr = server.communicate(timeout=STOPPING)
    finally:
        server.kill()
        server.communicate()
    record = {"code": server.returncode, "signals": ["SIGTERM"], "stderr": stderr}
    (folder / "server.json").write_text(json.dumps(record), "utf-8")


class Ended(NamedTuple):
    """A process that is over; no code means that it took too long."""

    code: int | None
    stdout: str
    stderr: str


def run(command: Sequence[str], seconds: float, folder: Path | None = None) -> Ended:
    """Run a command to its end; when it takes too long, end it with everything it started."""
    # Files, not pipes: a grandchild that stays behind cannot keep us waiting for the end of a file.
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        code, verdict = None, f"\nended after {seconds} s: {' '.join(command)}"
        try:
            code, verdict = process.wait(seconds), ""
        except subprocess.TimeoutExpired:
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stdout.seek(0)
        stderr.seek(0)
        return Ended(
            code, stdout.read().decode("utf-8", "replace"), stderr.read().decode("utf-8", "replace") + verdict
        )


def find_interpreter(foreign: Foreign) -> list[str] | Ended:
    """The beginning of the command that runs a client's script; or why its environment could not be made."""
    match foreign.runs_on:
        case "this python":
            return [sys.executable]
        case "its own python":
            pins = (CLIENTS / foreign.script).with_suffix(".txt")
            apart = ["run", "--no-project", "--isolated", "--quiet", "--python", sys.executable]
            return [*find_uv(), *apart, "--with-requirements", str(pins), "python"]
        case "node":
            return find_node()


def find_uv() -> list[str]:
    """The command that runs uv. These clients always run, so a missing uv is a failure."""
    found = os.environ.get("UV") or shutil.which("uv")
    if found:
        return [found]
    module = [sys.executable, "-m", "uv"]
    if run([*module, "--version"], TOURING).code == 0:
        return module
    pytest.fail("uv was not found: not in $UV, not on the PATH and not as a module; `pip install uv` helps")


def find_node() -> list[str] | Ended:
    """The command that runs node, with the packages of the clients in place."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("the TypeScript clients need node and npm, which are not on the PATH")
    version = run([node, "--version"], TOURING).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"the TypeScript clients need node {OLDEST_NODE} or newer, and this is {version}")
    return install_packages(npm) or [node]


@cache
def install_packages(npm: str, folder: Path = CLIENTS) -> Ended | None:
    """Install exactly what the lock file in a folder says, unless that was done before; returns what went wrong."""
    lock = sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "node_modules" / ".made-from"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    with alone(folder):
        if stamp.is_file() and stamp.read_text("utf-8") == lock:
            return None
        ended = run([npm, "ci", *options], INSTALLING, folder)
        if ended.code != 0:
            return ended
        stamp.write_text(lock, "utf-8")
        return None


@contextmanager
def alone(folder: Path) -> Generator[None]:
    """Keep the other workers of a test run out of a folder: npm empties what it is about to install."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    name = f"mcp-tests-{sha256(bytes(folder)).hexdigest()[:16]}.lock"
    with (Path(gettempdir()) / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
