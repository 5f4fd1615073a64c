"""Starts a server as a host would and finds out what is wrong with it. Says what it saw; whom to tell is not its business."""

# The commands are those of the user's own configuration.
# ruff: noqa: S603

import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from ..channel import Channel
from ..errors import ConnectionLost, McpError, RequestTimeout
from ..protocol.revisions import Revision
from ..transports.remote.access import Unauthorized
from .hosts import Command

PATIENCE = 30.0  # seconds; the first start by uvx may have to unpack packages
FAREWELL = 5.0  # seconds to end in
WORDS = 300  # characters shown of what a server says
OLDEST_PYTHON = (3, 11)
OTHER_PORT = "end the program that has it, perhaps an earlier start of this server, or choose another --port"
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "doctor", "version": "1"},
    },
}
_ERAS: tuple[Revision, ...] = ("2025-11-25", "2026-07-28")


class Finding(NamedTuple):
    """One thing that was looked at: what was seen and, if it is wrong, what to do."""

    seen: str
    remedy: str = ""

    @property
    def good(self) -> bool:
        return not self.remedy


@dataclass(slots=True)
class Patient:
    """A way of starting a server, and how to put it into the host again if it is out of date."""

    server: str
    command: Command
    reinstall: str
    env: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def without_secrets(self, text: str) -> str:
        """A text with each value of the entry's variables as the variable's name."""
        for name, value in self.command.env.items():
            text = text.replace(value, f"${name}") if len(value) > 3 else text
        return text

    def full_env(self) -> dict[str, str]:
        return {**self.env, **self.command.env}


def examine(patient: Patient) -> Iterator[Finding]:
    """Look at one thing after the other; ends with the first that makes the rest pointless."""
    for seen, remedy in _examine(patient):
        yield Finding(patient.without_secrets(seen), remedy)


def _examine(patient: Patient) -> Iterator[Finding]:
    if not patient.command.words:
        yield Finding("the entry starts no program", f"if it should start this server, {patient.reinstall}")
        return
    program = shutil.which(patient.command.program, path=patient.env.get("PATH"))
    if program is None:
        yield _not_found(patient)
        return
    yield Finding(f"command: {program}")
    if wrong := _wrong_python(program, patient):
        yield wrong
        return
    missing = list(_missing_directories(patient))
    yield from missing
    if _option(patient.command.args, "--transport") == "http":
        yield from _examine_http(program, patient)
        return
    start = _try_start(program, patient)
    yield start
    if start.good and not missing:
        from ..transports.child import stdio

        with TemporaryFile() as complaints:
            yield from _speak(
                patient.server,
                stdio(patient.command.words, env=patient.full_env(), cwd=Path.home(), stderr=complaints),
            )
            yield from _complaints(complaints)


def _not_found(patient: Patient) -> Finding:
    program = patient.command.program
    if Path(program).exists():
        return Finding(
            f"command cannot be run: {program} is no program, or not executable", patient.reinstall
        )
    if os.path.isabs(program):  # noqa: PTH117 - a Path would take a Windows name for a relative one elsewhere
        return Finding(f"entry is stale: {program} is no longer there", patient.reinstall)
    return Finding(
        f"command not found: {program} is not on the PATH",
        f"install it, or {patient.reinstall} to write its full path (hosts often know a shorter PATH than a shell)",
    )


def _wrong_python(program: str, patient: Patient) -> Finding | None:
    if not Path(program).name.startswith("python"):
        return None
    asked = [program, "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
        version = tuple(map(int, said.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        return Finding(f"wrong Python: {program} does not run", patient.reinstall)
    if version < OLDEST_PYTHON:
        needed = ".".join(map(str, OLDEST_PYTHON))
        return Finding(
            f"wrong Python: {program} is {'.'.join(map(str, version))}, and {needed} or newer is needed",
            f"install Python {needed} or use uvx, then {patient.reinstall}",
        )
    return None


def _missing_directories(patient: Patient) -> Iterator[Finding]:
    """Directories to be used have to be there; files named by an option may be made, in a directory that is."""
    before = ""
    for argument in patient.command.args:
        bare, colon, rights = argument.rpartition(":")
        path = Path(bare if colon and rights in ("ro", "rw") else argument).expanduser()
        needed = path.parent if before.startswith("--") else path
        if path.is_absolute() and not needed.exists():
            yield Finding(
                f"directory missing: {needed}", f"create it, or {patient.reinstall} with another one"
            )
        before = argument


def _option(args: Any, name: str) -> str | None:
    for at, word in enumerate(args):
        if word == name and at + 1 < len(args):
            return args[at + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _try_start(program: str, patient: Patient) -> Finding:
    """One handshake over raw pipes, so that whatever else stands on standard output is seen."""
    began = time.monotonic()
    try:
        with _running(program, patient, subprocess.PIPE) as process:
            return _shake_hands(process, began)
    except OSError as error:
        return _not_run(program, error, patient)


@contextmanager
def _running(program: str, patient: Patient, pipe: int) -> Generator["subprocess.Popen[bytes]"]:
    """The server, from any directory but the user's own, as hosts do. Its end is certain."""
    process = subprocess.Popen(
        [program, *patient.command.args],
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.PIPE,
        env=patient.full_env(),
        cwd=Path.home(),
    )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(FAREWELL)
        process.kill()
        process.wait()
        if process.stdin:
            with suppress(OSError):  # it did not read all of what was written
                process.stdin.close()


def _not_run(program: str, error: OSError, patient: Patient) -> Finding:
    """The file is there, and the system does not run it: often its first line names a Python that is gone."""
    with suppress(OSError), open(program, "rb") as file:  # noqa: PTH123 - two bytes of it
        first = file.readline(1000).decode("utf-8", "replace").strip()
        if first.startswith("#!") and not Path(first[2:].split()[0]).exists():
            return Finding(
                f"wrong Python: {first[2:]}, which {program} runs by, is not there", patient.reinstall
            )
    return Finding(f"command cannot be run: {program}: {error.strerror}", patient.reinstall)


def _complaints(file: IO[bytes]) -> Iterator[Finding]:
    """What it wrote as an error while it was spoken to; what else it says there is of no concern."""
    file.seek(0)
    errors = [
        line for line in file.read().decode("utf-8", "replace").splitlines() if line.startswith("ERROR ")
    ]
    for line in dict.fromkeys(errors):
        yield Finding(f"complains: {_shown(line)}", "mend what it says")


def _shake_hands(process: "subprocess.Popen[bytes]", began: float) -> Finding:
    assert process.stdin is not None
    lines, complaints = _lines(process.stdout), _lines(process.stderr)
    with suppress(OSError):
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
    while True:
        line = _next(lines, began + PATIENCE)
        if line is None:
            return Finding(
                f"no answer within {PATIENCE:.0f} seconds", "look at what the server does at its start"
            )
        if not line:
            code = process.wait(PATIENCE)
            return _explain_end(code, list(_rest(complaints)))
        try:
            message = json.loads(line)
        except ValueError:
            shown = line.decode("utf-8", "replace").strip()[:WORDS]
            return Finding(
                f"standard output is polluted: {shown!r} is not a message",
                "something the command starts prints to standard output: make it print to standard error",
            )
        if isinstance(message, dict) and "result" in message:
            return Finding(f"starts and answers after {(time.monotonic() - began) * 1000:.0f} ms")
        return Finding(f"refuses the handshake: {line[:200]!r}", "update the server")


def _rest(complaints: "SimpleQueue[bytes]") -> Iterator[str]:
    while line := _next(complaints, time.monotonic() + 1):
        yield line.decode("utf-8", "replace").rstrip()


def _explain_end(code: int, said: Sequence[str]) -> Finding:
    text = "\n".join(said)
    last = _last_words(said) or f"exit code {code}, and no word why"
    if re.search(r"ModuleNotFoundError|ImportError|No module named", text):
        return Finding(
            f"import error: {last}", "install the server again; with uvx, `uvx --refresh` its name once"
        )
    if re.search(r"Address already in use|cannot listen on", text):
        return Finding(f"port taken: {last}", OTHER_PORT)
    if re.search(r"requires.python|satisfy Python|SyntaxError|different Python", text, re.IGNORECASE):
        return Finding(f"wrong Python: {last}", "use Python 3.11 or newer, or uvx, which brings its own")
    return Finding(f"ends before it has answered: {last}", "mend what it says")


def _last_words(said: Sequence[str]) -> str:
    """Why it ended: the last line of a traceback; else the last lines, without frames and hints around them."""
    lines = [line.strip(" \t│╰├─▶×") for line in said]  # noqa: RUF001 - the frames that uv draws
    lines = [line for line in lines if line]
    if any(line.startswith("Traceback ") for line in lines):
        return _shown(lines[-1])
    hints = [number for number, line in enumerate(lines) if line.startswith("hint:")]
    return _shown(" ".join(lines[: hints[0] if hints else None]), -WORDS)


def _shown(text: str, length: int = WORDS) -> str:
    """So much of the beginning, or of the end, and nothing that a terminal would obey."""
    text = text[:length] if length > 0 else text[length:]
    return "".join(char if char.isprintable() else "?" for char in text)


def _lines(stream: Any) -> "SimpleQueue[bytes]":
    """What comes, line by line, and an empty one at the end. A thread reads, because pipes have no time limit."""
    queue: SimpleQueue[bytes] = SimpleQueue()

    def read() -> None:
        with suppress(OSError, ValueError):
            for line in stream:
                queue.put(line)
        queue.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return queue


def _next(queue: "SimpleQueue[bytes]", until: float) -> bytes | None:
    try:
        return queue.get(timeout=max(0.0, until - time.monotonic()))
    except Empty:
        return None


def _speak(name: str, opener: Callable[[], AbstractAsyncContextManager[Channel]]) -> Iterator[Finding]:
    """Use it as a client does, in both eras."""
    import anyio

    from ..client.client import Client

    async def list_tools(revision: Revision) -> Finding:
        with anyio.fail_after(PATIENCE):
            async with Client(opener, revision=revision) as client:
                tools = await client.list_tools()
                server = client.server
        seen = f"revision {revision}: {server['name']} {server['version']}, {len(tools)} tools"
        if server["name"] != name:
            return Finding(
                f"another server answers: {seen}",
                f"let the entry start {name}, or ask that server's own help",
            )
        return Finding(seen)

    for revision in _ERAS:
        try:
            yield anyio.run(list_tools, revision)
        except Unauthorized:
            yield Finding(f"revision {revision}: answers, and asks for a token")
        except (McpError, ConnectionLost, RequestTimeout, OSError, ExceptionGroup) as error:
            yield Finding(f"revision {revision}: {_first(error)}", "update the server")


def _first(error: Exception) -> str:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {PATIENCE:.0f} seconds"
    return _shown(str(error)) or type(error).__name__


def _examine_http(program: str, patient: Patient) -> Iterator[Finding]:
    args = patient.command.args
    host, port = _option(args, "--host") or "127.0.0.1", _option(args, "--port") or "8000"
    if port.isdecimal() and 0 < int(port) < 65536:  # else the server itself says what is wrong with it
        if taken := _taken(host, int(port)):
            yield taken
            return
        yield Finding(f"port: {host}:{port} is free")
    began = time.monotonic()
    try:
        with _running(program, patient, subprocess.DEVNULL) as process:
            url = _announced(process, began)
            if isinstance(url, Finding):
                yield url
                return
            yield Finding(f"serves at {url} after {(time.monotonic() - began) * 1000:.0f} ms")
            from ..transports.remote.channel import http

            yield from _speak(patient.server, http(url))
    except OSError as error:
        yield _not_run(program, error, patient)


def _taken(host: str, port: int) -> Finding | None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            return Finding(
                f"port taken: {host}:{port} cannot be used ({error.strerror})",
                OTHER_PORT,
            )
    return None


def _announced(process: "subprocess.Popen[bytes]", began: float) -> str | Finding:
    """The address that a server over HTTP says it has; or why it says none."""
    lines = _lines(process.stderr)
    said: list[str] = []
    while line := _next(lines, began + PATIENCE):
        said.append(line.decode("utf-8", "replace").rstrip())
        if " serves MCP at " in said[-1]:
            return said[-1].split()[-1]
    if line is None:
        return Finding(
            f"not ready within {PATIENCE:.0f} seconds", "look at what the server does at its start"
        )
    return _explain_end(process.wait(PATIENCE), said)
